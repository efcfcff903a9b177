// Output of commands: colours of SGR sequences become classes, other sequences are dropped.

import type { ComponentChildren } from "preact";
import { linked } from "./links.tsx";

/** shortOutput and longOutput are numbers of characters of an output that are shown, from its end. */
export const shortOutput = 20_000;
export const longOutput = 1_000_000;

// CSI sequences, OSC and other strings with their terminators, two-character escapes.
const sequence = /\u001b(?:\[([0-9;:]*)([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[@-Z\\-_]?)/gu;

interface Style {
	color: string;
	bold: boolean;
	dim: boolean;
	underline: boolean;
}

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

function applySGR(style: Style, codes: string): Style {
	const next = { ...style };
	const list = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
	for (let i = 0; i < list.length; i++) {
		const code = list[i]!;
		if (code === 0) Object.assign(next, { color: "", bold: false, dim: false, underline: false });
		else if (code === 1) next.bold = true;
		else if (code === 2) next.dim = true;
		else if (code === 4) next.underline = true;
		else if (code === 22) next.bold = next.dim = false;
		else if (code === 24) next.underline = false;
		else if (code === 38 || code === 48) i += list[i + 1] === 5 ? 2 : 4; // 256 colours are not shown
		else if (code === 39) next.color = "";
		else if (code >= 30 && code <= 37) next.color = names[code - 30]!;
		else if (code >= 90 && code <= 97) next.color = names[code - 90]!;
	}
	return next;
}

/** overwrite applies carriage returns: only the last text of a line stays, as for progress bars. */
function overwrite(text: string): string {
	return text.replace(/\r\n/g, "\n").replace(/[^\n]*\r(?=[^\n])/g, "").replace(/\r/g, "");
}

/** terminal returns the nodes of the last characters of an output, at most max. */
export function terminal(output: string, max: number): ComponentChildren {
	const cut = output.length > max;
	const text = overwrite(cut ? output.slice(-max) : output);
	const nodes: ComponentChildren[] = cut ? [<span class="faint">… {output.length - max} characters before</span>, "\n"] : [];
	let style: Style = { color: "", bold: false, dim: false, underline: false };
	let from = 0;
	const add = (part: string) => {
		if (part === "") return;
		const classes = [
			style.color && `c-${style.color}`, style.bold && "bold", style.dim && "faint", style.underline && "underline",
		];
		const name = classes.filter(Boolean).join(" ");
		nodes.push(name ? <span class={name}>{linked(part)}</span> : linked(part));
	};
	for (const m of text.matchAll(sequence)) {
		add(text.slice(from, m.index));
		from = m.index + m[0].length;
		if (m[2] === "m") style = applySGR(style, m[1] ?? "");
	}
	add(text.slice(from));
	return nodes;
}
