// The two sides of a difference, from the difference and the file as it is.

import { linesOf, type DiffLine } from "../../../web/src/lib/patch.ts";

/** Sides are the texts of a file before and after. whole is set if after is the file as it is. */
export interface Sides {
	before: string;
	after: string;
	whole: boolean;
}

interface Hunk {
	/** at is the number of the first line after the change, from 1. Without one it is the number of the line before. */
	at: number;
	lines: DiffLine[];
}

/** hunksOf groups the lines of a file's difference. */
function hunksOf(patch: string): Hunk[] {
	const hunks: Hunk[] = [];
	for (const line of linesOf(patch)) {
		if (line.type === "hunk") {
			hunks.push({ at: line.new, lines: [] });
		} else if (line.type !== "note") {
			hunks.at(-1)?.lines.push(line);
		}
	}
	return hunks;
}

/**
 * sidesOf returns both sides of a change. If the file still has the lines of the change, the sides are whole. After a
 * later change, they have the lines of the difference alone.
 */
export function sidesOf(patch: string, file: string | null): Sides {
	const hunks = hunksOf(patch);
	const before = file === null ? null : takeBack(hunks, file);
	return before !== null ? { before, after: file!, whole: true } : { ...partsOf(hunks), whole: false };
}

/** takeBack returns the text of a file before a change, or null if the file has other lines now. */
function takeBack(hunks: readonly Hunk[], file: string): string | null {
	const lines = file.split("\n");
	const out: string[] = [];
	let next = 0;
	for (const hunk of hunks) {
		const after = hunk.lines.filter((l) => l.type !== "del");
		const start = after.length === 0 ? hunk.at : hunk.at - 1;
		if (start < next || after.some((l, i) => lines[start + i] !== l.text)) return null;
		out.push(...lines.slice(next, start), ...hunk.lines.filter((l) => l.type !== "add").map((l) => l.text));
		next = start + after.length;
	}
	return [...out, ...lines.slice(next)].join("\n");
}

/** partsOf returns the lines of a difference, with a mark between its parts. */
function partsOf(hunks: readonly Hunk[]): { before: string; after: string } {
	const side = (left: DiffLine["type"]) =>
		hunks.map((h) => h.lines.filter((l) => l.type !== left).map((l) => `${l.text}\n`).join("")).join("…\n");
	return { before: side("add"), after: side("del") };
}
