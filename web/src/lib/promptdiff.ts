// The difference of two prompts: by message first, then by line, then by word.

import { diffArrays } from "diff/lib/diff/array.js";
import { diffWordsWithSpace } from "diff/lib/diff/word.js";

/** maxEdits bounds the work of a comparison. A text with more changes is shown as replaced. */
const maxEdits = 2000;

/** PromptPart is a message or the tools of a prompt. */
export interface PromptPart {
	/** sources are the context items of a message. */
	sources?: readonly string[];
	/** isOutput is set for the output of a tool. */
	isOutput?: boolean;
	/** id names the part in other prompts: the context items that it comes from, or its content. */
	id: string;
	title: string;
	text: string;
}

/** PartChange is the change of a part between two prompts. */
export type PartChange =
	| { kind: "same" | "added" | "removed"; part: PromptPart }
	| { kind: "changed"; part: PromptPart; before: PromptPart };

/** comparePrompts returns the parts of both prompts in their order, with what became of each. */
export function comparePrompts(before: readonly PromptPart[], after: readonly PromptPart[]): PartChange[] {
	const changes: PartChange[] = [];
	const blocks = diffArrays([...before], [...after], { comparator: (a, b) => a.id === b.id, maxEditLength: maxEdits });
	if (!blocks) {
		const all = (kind: "removed" | "added", parts: readonly PromptPart[]) => parts.map((part) => ({ kind, part }));
		return [...all("removed", before), ...all("added", after)];
	}
	let b = 0;
	let a = 0;
	for (const block of blocks) {
		for (const _ of block.value) {
			if (block.removed) changes.push({ kind: "removed", part: before[b++]! });
			else if (block.added) changes.push({ kind: "added", part: after[a++]! });
			else {
				const [old, now] = [before[b++]!, after[a++]!];
				changes.push(old.text === now.text ? { kind: "same", part: now } : { kind: "changed", part: now, before: old });
			}
		}
	}
	return changes;
}

/** Piece is a part of a line. */
export interface Piece {
	text: string;
	changed: boolean;
}

/** LineChange is a line of a text, and what became of it. */
export interface LineChange {
	kind: "same" | "added" | "removed";
	pieces: Piece[];
}

/** compareTexts returns the lines of two texts. A line that replaces another one has its changed words marked. */
export function compareTexts(before: string, after: string): LineChange[] {
	const [old, now] = [before.split("\n"), after.split("\n")];
	const blocks = diffArrays(old, now, { maxEditLength: maxEdits });
	if (!blocks) return [...linesOf(old, "removed"), ...linesOf(now, "added")];
	const lines: LineChange[] = [];
	for (let i = 0; i < blocks.length; i++) {
		const block = blocks[i]!;
		const next = blocks[i + 1];
		if (block.removed && next?.added) {
			lines.push(...replaced(block.value, next.value));
			i++;
		} else {
			lines.push(...linesOf(block.value, block.added ? "added" : block.removed ? "removed" : "same"));
		}
	}
	return lines;
}

function linesOf(lines: readonly string[], kind: LineChange["kind"]): LineChange[] {
	return lines.map((text) => ({ kind, pieces: [{ text, changed: false }] }));
}

/** replaced compares lines one by one if there are as many of them, and else shows them as a whole. */
function replaced(before: readonly string[], after: readonly string[]): LineChange[] {
	const [old, now] = [linesOf(before, "removed"), linesOf(after, "added")];
	if (old.length !== now.length) return [...old, ...now];
	for (let i = 0; i < old.length; i++) {
		const words = diffWordsWithSpace(old[i]!.pieces[0]!.text, now[i]!.pieces[0]!.text, { maxEditLength: maxEdits });
		if (!words) continue;
		old[i]!.pieces = words.filter((w) => !w.added).map((w) => ({ text: w.value, changed: w.removed }));
		now[i]!.pieces = words.filter((w) => !w.removed).map((w) => ({ text: w.value, changed: w.added }));
	}
	return [...old, ...now];
}
