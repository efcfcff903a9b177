// The change of one file, as the conversation and questions show it.

import { useState } from "preact/hooks";
import { visible } from "../lib/format.ts";

/** foldedLines is the number of lines of a file that are shown at first. */
export const foldedLines = 400;

type Kind = "add" | "delete" | "update";

/** diffCounts counts added and removed lines. A new or deleted file has its text as diff. */
export function diffCounts(diff: string, kind: Kind): { added: number; removed: number } {
	const lines = linesOf(diff);
	if (kind === "add" && !diff.startsWith("@@")) return { added: lines.length, removed: 0 };
	if (kind === "delete" && !diff.startsWith("@@")) return { added: 0, removed: lines.length };
	let added = 0;
	let removed = 0;
	for (const l of lines) {
		if (l.startsWith("+") && !l.startsWith("+++ ")) added++;
		else if (l.startsWith("-") && !l.startsWith("--- ")) removed++;
	}
	return { added, removed };
}

function linesOf(diff: string): string[] {
	if (diff === "") return [];
	return (diff.endsWith("\n") ? diff.slice(0, -1) : diff).split("\n");
}

/** DiffView shows the change of one file. */
export function DiffView({ diff, kind }: { diff: string; kind: Kind }) {
	const [all, setAll] = useState(false);
	const whole = kind !== "update" && !diff.startsWith("@@");
	const lines = linesOf(diff);
	const shown = all ? lines : lines.slice(0, foldedLines);
	const mark = kind === "add" ? "+" : "-";
	return (
		<div class="diff" role="region" aria-label="diff" tabIndex={0}>
			{shown.map((l) => {
				const line = whole ? mark + l : l;
				const type = line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : line.startsWith("@@") ? "hunk" : "";
				return <div class={`diff-line ${type}`}>{visible(line) || " "}</div>;
			})}
			{shown.length < lines.length && (
				<button type="button" onClick={() => setAll(true)}>Show {lines.length - shown.length} more lines</button>
			)}
		</div>
	);
}
