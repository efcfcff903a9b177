// A button with a menu.

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../lib/icons.tsx";

/** MenuEntry is a command of a menu. */
export interface MenuEntry {
	label: string;
	icon: IconName;
	danger?: boolean;
	disabled?: boolean;
	run(): void;
}

/** MenuProps has the button and the commands of a menu. */
export interface MenuProps {
	label: string;
	entries: readonly MenuEntry[];
	text?: ComponentChildren;
	/** up opens the menu above the button. */
	up?: boolean;
}

/** Menu is a button that opens a menu. */
export function Menu({ label, entries, text, up }: MenuProps) {
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLSpanElement>(null);
	const button = useRef<HTMLButtonElement>(null);
	const list = useRef<HTMLDivElement>(null);
	const place = usePlace({ box, button, list, up: up === true, open, close: () => setOpen(false) });
	const close = () => {
		setOpen(false);
		button.current?.focus();
	};
	const onKeyDown = (e: KeyboardEvent) => {
		const buttons = [...list.current!.querySelectorAll<HTMLElement>("button:not(:disabled)")];
		const i = buttons.indexOf(document.activeElement as HTMLElement);
		const to: Record<string, number> = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: buttons.length - 1 };
		if (e.key in to) {
			buttons[(to[e.key]! + buttons.length) % buttons.length]?.focus();
			e.preventDefault();
		} else if (e.key === "Escape" || e.key === "Tab") {
			close();
			e.preventDefault();
		}
		e.stopPropagation();
	};
	return (
		<span class="menu" ref={box}>
			<button ref={button} class="quiet" type="button" aria-label={label} aria-haspopup="menu" aria-expanded={open} title={label}
				onClick={() => setOpen(!open)}>{text ?? <Icon name="more" />}{text && <Icon name="down" />}</button>
			{open && (
				<div class="menu-list" role="menu" aria-label={label} ref={list} onKeyDown={onKeyDown}
					style={{ left: `${place.left}px`, top: `${place.top}px` }}>
					{entries.map((e) => (
						<button type="button" role="menuitem" class={e.danger ? "danger" : ""} disabled={e.disabled} tabIndex={-1}
							onClick={() => {
								close();
								e.run();
							}}><Icon name={e.icon} />{e.label}</button>
					))}
				</div>
			)}
		</span>
	);
}

interface Placement {
	box: RefObject<HTMLElement | null>;
	button: RefObject<HTMLElement | null>;
	list: RefObject<HTMLElement | null>;
	up: boolean;
	open: boolean;
	close(): void;
}

/** usePlace puts an open menu below or above its button, and closes it when the user acts elsewhere. */
function usePlace({ box, button, list, up, open, close }: Placement): { left: number; top: number } {
	const [place, setPlace] = useState({ left: 0, top: 0 });
	useLayoutEffect(() => {
		if (!open) return;
		const panel = list.current!;
		const at = button.current!.getBoundingClientRect();
		const size = panel.getBoundingClientRect();
		const below = !up && at.bottom + size.height + 8 < innerHeight;
		setPlace({
			left: Math.max(8, Math.min(at.right - size.width, innerWidth - size.width - 8)),
			top: below ? at.bottom + 4 : Math.max(8, at.top - size.height - 4),
		});
		panel.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
		const outside = (e: Event) => {
			if (!box.current?.contains(e.target as Node)) close();
		};
		const scrolled = (e: Event) => { // the menu does not move with its button
			if ((e.target as Node).contains(button.current) && button.current?.getBoundingClientRect().top !== at.top) close();
		};
		document.addEventListener("pointerdown", outside);
		document.addEventListener("scroll", scrolled, true);
		return () => {
			document.removeEventListener("pointerdown", outside);
			document.removeEventListener("scroll", scrolled, true);
		};
	}, [open]);
	return place;
}
