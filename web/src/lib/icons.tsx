// Icons on a grid of 16, drawn with strokes.

const paths = {
	check: "M3 8.5 6.5 12 13 4.5",
	copy: "M6 6h7v7H6z M10 6V3H3v7h3",
	x: "M4 4l8 8 M12 4l-8 8",
	plus: "M8 3v10 M3 8h10",
	search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10z M11 11l3 3",
	chevron: "M6 3.5 10.5 8 6 12.5",
	up: "M3.5 10 8 5.5 12.5 10",
	down: "M3.5 6 8 10.5 12.5 6",
	send: "M8 13V3 M3.5 7.5 8 3l4.5 4.5",
	stop: "M4 4h8v8H4z",
	pin: "M8 10v4 M4.5 10h7 M5.5 10 6 3.5h4l.5 6.5",
	eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
	eyeOff: "M2 2l12 12 M6.5 4A6 6 0 0 1 8 3.5c4 0 6.5 4.5 6.5 4.5a11 11 0 0 1-1.7 2.2 M4.3 5.3A11 11 0 0 0 1.5 8S4 12.5 8 12.5a6 6 0 0 0 2.3-.5",
	trash: "M3 4.5h10 M6.5 4.5V3h3v1.5 M4.5 4.5 5 13h6l.5-8.5",
	edit: "M3 13l.8-3L11 2.8 13.2 5 6 12.2z",
	undo: "M3 7h7a3.5 3.5 0 0 1 0 7H7 M6 4 3 7l3 3",
	redo: "M13 7H6a3.5 3.5 0 0 0 0 7h3 M10 4l3 3-3 3",
	scissors: "M4.5 6A1.5 1.5 0 1 0 4.5 3a1.5 1.5 0 0 0 0 3z M4.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M5.8 5.3 13 12 M5.8 10.7 13 4",
	compress: "M8 2v4.5 M5.5 4.5 8 7l2.5-2.5 M8 14V9.5 M5.5 11.5 8 9l2.5 2.5 M2.5 8h11",
	terminal: "M3 4l4 4-4 4 M8.5 12H13",
	file: "M4 2h5l3 3v9H4z M9 2v3h3",
	tool: "M9.5 6.5 4 12l-1-1 5.5-5.5A3 3 0 0 1 12 2.2L10 4.2l1.8 1.8 2-2a3 3 0 0 1-4.3 2.5z",
	user: "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z M3 13.5a5 5 0 0 1 10 0",
	spark: "M8 2l1.5 4.5L14 8l-4.5 1.5L8 14l-1.5-4.5L2 8l4.5-1.5z",
	bell: "M4 11V7a4 4 0 0 1 8 0v4l1 1H3z M7 14h2",
	panel: "M2.5 3h11v10h-11z M10 3v10",
	list: "M5.5 4h8 M5.5 8h8 M5.5 12h8 M2.5 4h.1 M2.5 8h.1 M2.5 12h.1",
	archive: "M2.5 3h11v3h-11z M3.5 6v7h9V6 M6.5 9h3",
	fork: "M5 13V9a3 3 0 0 1 3-3 3 3 0 0 0 3-3 M5 3v10",
	image: "M2.5 3h11v10h-11z M5.5 7a1 1 0 1 0 0-2 1 1 0 0 0 0 2z M3 12l3.5-3.5 2 2L11 8l2.5 2.5",
	warning: "M8 2.5 14 13H2z M8 6.5v3 M8 11.2v.1",
	settings: "M2 4.5h6 M11 4.5h3 M2 11.5h3 M8 11.5h6 M9.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z M6.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
	wide: "M5 5 2 8l3 3 M11 5l3 3-3 3 M2 8h12",
	more: "M3.5 8h.1 M8 8h.1 M12.4 8h.1",
} as const;

/** IconName is the name of an icon. */
export type IconName = keyof typeof paths;

/** Icon is decoration: the element around it has the label. */
export function Icon({ name }: { name: IconName }) {
	return (
		<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
			<path d={paths[name]} />
		</svg>
	);
}
