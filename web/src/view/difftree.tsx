// A tree of changed files, with the lines of opened files.

import { computed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Changes } from "../store/changes.ts";
import type { Comments } from "../store/comments.ts";
import { diffSplit } from "../store/panels.ts";
import { linesOf, pairs, treeRows, type DiffLine, type FilePatch, type TreeRow } from "../lib/patch.ts";
import { toggled } from "../lib/toggled.ts";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { visible } from "../lib/format.ts";
import { foldedLines } from "./diff.tsx";
import { openComment } from "./comments.tsx";
import { RowView, type DiffRow } from "./diffrows.tsx";

/** DiffTree shows the files of a diff. */
export function DiffTree({ c, comments }: { c: Changes; comments: Comments }) {
	const handle = useRef<ListHandle>(null);
	const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
	const [focus, setFocus] = useState<string | null>(null);
	const parsed = useMemo(() => new Map<string, DiffLine[]>(), [c.files.value]);
	const rows = useMemo(() => computed(() => rowsOf(c, closed, parsed)), [c, closed, parsed]).value;
	const first = rows[0]!.key;
	const active = focus !== null && rows.some((r) => r.key === focus) ? focus : first;
	const go = (index: number, where: "start" | "nearest" = "nearest") => {
		const row = rows[index];
		if (!row) return;
		setFocus(row.key);
		handle.current?.show(index, where);
		requestAnimationFrame(() => document.getElementById(`d-${row.key}`)?.focus({ preventScroll: true }));
	};
	useTarget(c, rows, () => closed.size > 0 && setClosed(new Set()), go);
	const toggle = (row: TreeRow<FilePatch>) => (row.file ? c.toggle(row.path) : setClosed(toggled(closed, row.path)));
	const isOpen = (row: TreeRow<FilePatch>) => (row.file ? c.open.value.has(row.path) : !closed.has(row.path));
	const comment = (r: DiffRow | undefined) => {
		const line = r && lineOf(r);
		if (line) openComment(comments, line.path, line.line);
	};
	return (
		<VirtualList rows={rows} estimate={22} class="diff-list" label="Changed files" role="treegrid" rowRole="presentation"
			handle={handle} focusedKey={active}
			onKeyDown={(e) => onKeyDown(e, { rows, active, isOpen, toggle, go, comment })}
			render={(r) => <RowView r={r} c={c} comment={comment} commented={isCommented(comments, r)}
				focused={r.key === active} isOpen={isOpen} toggle={toggle} onFocus={() => setFocus(r.key)} />} />
	);
}

/** useTarget opens the file of the line to show, and goes to the line when it has a row. */
function useTarget(c: Changes, rows: readonly DiffRow[], openFolders: () => void,
	go: (index: number, where: "start") => void): void {
	const target = c.target.value;
	useLayoutEffect(() => {
		if (!target) return;
		const file = c.find(target.path);
		if (!file) return;
		openFolders();
		if (!c.open.value.has(file.path)) {
			c.open.value = new Set([...c.open.value, file.path]);
			c.whole.value = new Set([...c.whole.value, file.path]);
			return;
		}
		const at = rows.findIndex((r) =>
			(r.kind === "line" || r.kind === "pair") && r.path === file.path && newLine(r) >= target.line);
		c.target.value = null;
		go(at >= 0 ? at : rows.findIndex((r) => r.kind === "tree" && r.row.path === file.path), "start");
	});
}

interface KeyContext {
	rows: readonly DiffRow[];
	active: string;
	isOpen(row: TreeRow<FilePatch>): boolean;
	toggle(row: TreeRow<FilePatch>): void;
	go(index: number): void;
	comment(row: DiffRow | undefined): void;
}

/** lineOf returns the line of a row that can have a comment. In a split view the new line is before the old one. */
function lineOf(r: DiffRow): { path: string; line: DiffLine } | null {
	const line = r.kind === "line" ? r.line : r.kind === "pair" ? r.pair.right ?? r.pair.left : null;
	return line && line.type !== "hunk" && line.type !== "note" ? { path: (r as { path: string }).path, line } : null;
}

function isCommented(comments: Comments, r: DiffRow): boolean {
	const line = comments.list.value.length > 0 ? lineOf(r) : null;
	return line !== null && comments.of(line.path, line.line) !== undefined;
}

function onKeyDown(e: KeyboardEvent, { rows, active, isOpen, toggle, go, comment }: KeyContext): void {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const at = rows.findIndex((r) => r.key === active);
	const step = (by: number, fits: (r: DiffRow) => boolean) => {
		for (let i = at + by; i >= 0 && i < rows.length; i += by) if (fits(rows[i]!)) return i;
		return at;
	};
	const current = rows[at];
	const tree = current?.kind === "tree" ? current.row : null;
	const opened = tree !== null && isOpen(tree);
	const stops = e.shiftKey ? () => true : stop;
	const keys: Record<string, () => void> = {
		ArrowDown: () => go(step(1, stops)), ArrowUp: () => go(step(-1, stops)),
		c: () => comment(current),
		j: () => go(step(1, (r) => r.kind === "tree")), k: () => go(step(-1, (r) => r.kind === "tree")),
		ArrowRight: () => tree && !opened && toggle(tree), ArrowLeft: () => tree && opened && toggle(tree),
		Enter: () => tree && toggle(tree), " ": () => tree && toggle(tree),
		Home: () => go(0), End: () => go(rows.findLastIndex(stop)),
	};
	const run = keys[e.key];
	if (!run || ((e.target as HTMLElement).closest("button") && (e.key === "Enter" || e.key === " "))) return;
	e.preventDefault();
	run();
}

/** stop reports whether the arrow keys stop at a row. */
function stop(r: DiffRow): boolean {
	return r.kind === "tree" || r.kind === "more" || (r.kind === "line" && r.line.type === "hunk") ||
		(r.kind === "pair" && r.pair.left?.type === "hunk");
}

function newLine(r: DiffRow): number {
	if (r.kind === "line") return r.line.type === "hunk" ? 0 : r.line.new;
	return r.kind === "pair" && r.pair.right?.type !== "hunk" ? r.pair.right?.new ?? 0 : 0;
}

function rowsOf(c: Changes, closed: ReadonlySet<string>, parsed: Map<string, DiffLine[]>): DiffRow[] {
	const rows: DiffRow[] = [];
	for (const row of treeRows(c.files.value, closed)) {
		const { path, file, depth } = row;
		rows.push({ key: `t:${path}`, kind: "tree", row });
		if (!file || !c.open.value.has(path)) continue;
		if (file.oldPath) {
			rows.push({ key: `o:${path}`, kind: "note", text: `Renamed from ${visible(file.oldPath)}.`, depth });
		}
		if (file.binary) {
			rows.push({ key: `b:${path}`, kind: "note", text: "A binary file: its content is not shown.", depth });
			continue;
		}
		if (file.text === "") {
			rows.push({ key: `c:${path}`, kind: "note", text: "The diff is too long: it has no lines of this file.", depth });
			continue;
		}
		let lines = parsed.get(path);
		if (!lines) parsed.set(path, lines = linesOf(file.text));
		if (lines.length === 0 && !file.oldPath) {
			rows.push({ key: `e:${path}`, kind: "note", text: "No lines changed: the file is empty, or only its mode changed.", depth });
		}
		const shown = c.whole.value.has(path) ? lines : lines.slice(0, foldedLines);
		if (diffSplit.value) {
			pairs(shown).forEach((pair, i) => rows.push({ key: `p:${path}:${i}`, kind: "pair", pair, path, depth }));
		}
		else shown.forEach((line, i) => rows.push({ key: `l:${path}:${i}`, kind: "line", line, path, depth }));
		if (shown.length < lines.length) {
			rows.push({ key: `m:${path}`, kind: "more", path, hidden: lines.length - shown.length, depth });
		}
	}
	return rows;
}
