// The changes of files, as a tree with the lines of opened files.

import { computed, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { changesOf, toggled, turnNames, type Changes } from "../store/changes.ts";
import type { ThreadStore } from "../store/thread.ts";
import { linesOf, pairs, sum, treeRows, type DiffLine, type FilePatch, type LinePair, type TreeRow } from "../lib/patch.ts";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { Icon } from "../lib/icons.tsx";
import { age, count, firstLine, plural, visible } from "../lib/format.ts";
import { CopyButton } from "../lib/copy.tsx";
import { Findings, ReviewButton } from "./review.tsx";

/** foldedLines is the number of lines of a file that are shown at first. */
const foldedLines = 400;
/** longestLine is the number of characters of a line that are shown. */
const longestLine = 2000;
const nameLength = 48;
const splitKey = "appserver.diff.split";

const split = signal(localStorage.getItem(splitKey) === "true");

type DiffRow =
	| { key: string; kind: "tree"; row: TreeRow<FilePatch> }
	| { key: string; kind: "line"; line: DiffLine; path: string; depth: number }
	| { key: string; kind: "pair"; pair: LinePair; path: string; depth: number }
	| { key: string; kind: "more"; path: string; hidden: number; depth: number }
	| { key: string; kind: "note"; text: string; depth: number };

export function ChangesPanel({ store }: { store: ThreadStore }) {
	const c = changesOf(store);
	useEffect(() => c.start(), []);
	return (
		<>
			<div class="side-head">
				<ScopeSelect c={c} store={store} />
				<div class="segments" role="group" aria-label="View of differences">
					{[false, true].map((on) => (
						<button type="button" aria-pressed={split.value === on} onClick={() => {
							split.value = on;
							localStorage.setItem(splitKey, String(on));
						}}>{on ? "Split" : "Unified"}</button>
					))}
				</div>
				<ReviewButton store={store} />
			</div>
			<Findings store={store} c={c} />
			<Body c={c} store={store} />
		</>
	);
}

function ScopeSelect({ c, store }: { c: Changes; store: ThreadStore }) {
	void store.timeline.changed.value;
	const names = turnNames(store);
	const nameOf = (turnId: string) => firstLine(visible(names.get(turnId) ?? "an earlier turn"), nameLength);
	const scope = c.scope.value;
	const [kind, from, to] = scope.split(":");
	const of = (id: string) => c.checkpoints.value.find((p) => p.id === id);
	const pointName = (id: string) => {
		const point = of(id);
		return point?.kind === "revert" ? `the revert, ${age(point.createdAt)}` : nameOf(id);
	};
	return (
		<select aria-label="Changes to show" value={scope} onChange={(e) => c.choose(e.currentTarget.value)}>
			<option value="latest">{store.turn.value ? "This turn" : "Last turn with changes"}</option>
			<option value="thread">Whole thread</option>
			{kind === "between" && <option value={scope}>Between {pointName(from!)} and {pointName(to!)}</option>}
			{c.turns.value.length > 0 && (
				<optgroup label="Turn">
					{c.turns.value.map((t) => <option value={`turn:${t.turnId}`}>{nameOf(t.turnId)}</option>)}
				</optgroup>
			)}
			{(c.checkpoints.value.length > 0 || kind === "since") && (
				<optgroup label="Since the checkpoint before">
					{kind === "since" && !of(from!) && <option value={scope}>an earlier turn</option>}
					{c.checkpoints.value.map((p) => <option value={`since:${p.id}`}>{pointName(p.id)}</option>)}
				</optgroup>
			)}
		</select>
	);
}

const emptyTexts: Record<string, string> = {
	latest: "No changes yet. Files that the agent changes appear here.",
	thread: "No changes yet. Files that the agent changes appear here.",
	turn: "This turn changed no files, or its changes were reverted.",
	since: "Nothing has changed since this checkpoint.",
	between: "The two checkpoints have the same files.",
};

function Body({ c, store }: { c: Changes; store: ThreadStore }) {
	if (c.phase.value === "loading") return <p class="hint" role="status">Loading…</p>;
	if (c.phase.value === "failed") return <Failed c={c} />;
	const list = c.files.value;
	if (list.length === 0) return lacksCaptures(c, store) ? <NotCaptured c={c} /> : <p class="hint">{emptyTexts[c.scope.value.split(":")[0]!]}</p>;
	return (
		<>
			<p class="side-note">
				{plural(list.length, "file")} <Counts additions={sum(list, (f) => f.additions)} deletions={sum(list, (f) => f.deletions)} />
				{c.cut.value && <span class="badge edited" title="The diff is longer than 16 MiB.">cut: some files have no lines here</span>}
				{store.turn.value !== null && c.scope.value === "latest" && <span class="faint">the turn is running</span>}
			</p>
			<Tree c={c} />
		</>
	);
}

/** lacksCaptures reports whether the agent changed files that the server did not compare. */
function lacksCaptures(c: Changes, store: ThreadStore): boolean {
	void store.timeline.changed.value;
	return c.turns.value.length === 0 && store.turn.value === null && store.timeline.entries.some((e) =>
		e.data.type === "item" && e.data.item.type === "fileChange" && e.data.item.status === "completed");
}

function NotCaptured({ c }: { c: Changes }) {
	return (
		<div class="hint" role="alert">
			<p>The agent changed files, but the server did not capture them. Captures need git 2.36 or later, and a folder that is not too large.</p>
			<p class="faint">The conversation shows each change.</p>
			<Retry c={c} />
		</div>
	);
}

function Retry({ c }: { c: Changes }) {
	return <button type="button" onClick={() => void c.load()} disabled={app.connection.value?.state.value !== "open"}>Try again</button>;
}

function Failed({ c }: { c: Changes }) {
	const off = c.failureKind.value === "checkpointsOff";
	const git = c.failureKind.value === "worktree";
	return (
		<div class="hint" role="alert">
			<p>{off ? "Checkpoints are turned off in the configuration, so that changes are not compared."
				: git ? "Git could not compare the files." : "The changes cannot be read."}</p>
			<p class="faint">{visible(c.failure.value)}</p>
			<Retry c={c} />
		</div>
	);
}

function Tree({ c }: { c: Changes }) {
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
	const target = c.target.value;
	useLayoutEffect(() => {
		if (!target) return;
		const file = c.find(target.path);
		if (!file) return;
		if (closed.size > 0) setClosed(new Set());
		if (!c.open.value.has(file.path)) {
			c.open.value = new Set([...c.open.value, file.path]);
			c.whole.value = new Set([...c.whole.value, file.path]);
			return;
		}
		const at = rows.findIndex((r) => (r.kind === "line" || r.kind === "pair") && r.path === file.path && newLine(r) >= target.line);
		c.target.value = null;
		go(at >= 0 ? at : rows.findIndex((r) => r.kind === "tree" && r.row.path === file.path), "start");
	});
	const toggle = (row: TreeRow<FilePatch>) => (row.file ? c.toggle(row.path) : setClosed(toggled(closed, row.path)));
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const at = rows.findIndex((r) => r.key === active);
		const step = (by: number, fits: (r: DiffRow) => boolean) => {
			for (let i = at + by; i >= 0 && i < rows.length; i += by) if (fits(rows[i]!)) return i;
			return at;
		};
		const current = rows[at];
		const tree = current?.kind === "tree" ? current.row : null;
		const opened = tree !== null && (tree.file ? c.open.value.has(tree.path) : !closed.has(tree.path));
		const keys: Record<string, () => void> = {
			ArrowDown: () => go(step(1, stop)), ArrowUp: () => go(step(-1, stop)),
			j: () => go(step(1, (r) => r.kind === "tree")), k: () => go(step(-1, (r) => r.kind === "tree")),
			ArrowRight: () => tree && !opened && toggle(tree), ArrowLeft: () => tree && opened && toggle(tree),
			Enter: () => tree && toggle(tree), " ": () => tree && toggle(tree),
			Home: () => go(0), End: () => go(rows.findLastIndex(stop)),
		};
		const run = keys[e.key];
		if (!run || ((e.target as HTMLElement).closest("button") && (e.key === "Enter" || e.key === " "))) return;
		e.preventDefault();
		run();
	};
	return (
		<VirtualList rows={rows} estimate={22} class="diff-list" label="Changed files" role="treegrid" rowRole="presentation"
			handle={handle} focusedKey={active} onKeyDown={onKeyDown}
			render={(r) => <RowView r={r} c={c} focused={r.key === active} closed={closed} toggle={toggle} onFocus={() => setFocus(r.key)} />} />
	);
}

/** stop reports whether the arrow keys stop at a row. */
function stop(r: DiffRow): boolean {
	return r.kind === "tree" || r.kind === "more" || (r.kind === "line" && r.line.type === "hunk") || (r.kind === "pair" && r.pair.left?.type === "hunk");
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
		if (file.oldPath) rows.push({ key: `o:${path}`, kind: "note", text: `Renamed from ${visible(file.oldPath)}.`, depth });
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
		if (split.value) pairs(shown).forEach((pair, i) => rows.push({ key: `p:${path}:${i}`, kind: "pair", pair, path, depth }));
		else shown.forEach((line, i) => rows.push({ key: `l:${path}:${i}`, kind: "line", line, path, depth }));
		if (shown.length < lines.length) rows.push({ key: `m:${path}`, kind: "more", path, hidden: lines.length - shown.length, depth });
	}
	return rows;
}

export function Counts({ additions, deletions }: { additions: number; deletions: number }) {
	return <span class="counts"><span class="added">+{count(additions)}</span> <span class="removed">−{count(deletions)}</span></span>;
}

interface RowProps {
	r: DiffRow;
	c: Changes;
	focused: boolean;
	closed: ReadonlySet<string>;
	toggle(row: TreeRow<FilePatch>): void;
	onFocus(): void;
}

function RowView({ r, c, focused, closed, toggle, onFocus }: RowProps) {
	const frame = { id: `d-${r.key}`, role: "row" as const, tabIndex: focused ? 0 : -1, onFocus };
	switch (r.kind) {
		case "tree": {
			const { row } = r;
			const open = row.file ? c.open.value.has(row.path) : !closed.has(row.path);
			return (
				<div {...frame} class={`tree-row ${row.file ? "file" : "folder"}`} aria-level={row.depth + 1} aria-expanded={open} onClick={() => toggle(row)}>
					<span role="gridcell" class="tree-name" style={{ paddingLeft: `${row.depth * 14}px` }} title={visible(row.path)}>
						<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
						{row.file && <Mark kind={row.file.kind} />}<span class="ellipsis">{visible(row.name)}{!row.file && "/"}</span>
						{row.file?.binary && <span class="badge">binary</span>}
						{row.file?.text === "" && !row.file.binary && <span class="badge edited">cut</span>}
					</span>
					<span role="gridcell">{!row.file && <span class="faint">{row.count} </span>}<Counts additions={row.additions} deletions={row.deletions} /></span>
					<span role="gridcell" class="tree-copy" onClick={(e) => e.stopPropagation()}>{row.file && <CopyButton text={row.path} label="Copy the path" />}</span>
				</div>
			);
		}
		case "line":
			return (
				<div {...frame} class={`diff-row ${r.line.type}`} aria-level={r.depth + 2}>
					<span role="gridcell" class="diff-cell"><Numbers old={r.line.old} new={r.line.new} type={r.line.type} /><LineText line={r.line} /></span>
				</div>
			);
		case "pair": {
			const { left, right } = r.pair;
			if (left && left === right && left.type !== "same") {
				return (
					<div {...frame} class={`diff-row ${left.type}`} aria-level={r.depth + 2}>
						<span role="gridcell" class="diff-cell"><LineText line={left} /></span>
					</div>
				);
			}
			return (
				<div {...frame} class="diff-row split" aria-level={r.depth + 2}>
					{([["old", left], ["new", right]] as const).map(([side, line]) => (
						<span role="gridcell" class={`diff-cell half ${line?.type ?? "none"}`}>
							{line && <><span class="line-number">{line[side] || ""}</span><LineText line={line} /></>}
						</span>
					))}
				</div>
			);
		}
		case "more":
			return (
				<div {...frame} class="diff-more" aria-level={r.depth + 2} tabIndex={-1}>
					<span role="gridcell"><button id={frame.id} type="button" class="small" tabIndex={frame.tabIndex}
						onClick={() => (c.whole.value = new Set([...c.whole.value, r.path]))}>Show {count(r.hidden)} more lines</button></span>
				</div>
			);
		case "note":
			return <div {...frame} class="diff-note" aria-level={r.depth + 2}><span role="gridcell">{r.text}</span></div>;
	}
}

const marks: Record<FilePatch["kind"], [string, string]> = {
	created: ["A", "added"], deleted: ["D", "removed"], modified: ["M", ""], renamed: ["R", ""],
};

export function Mark({ kind }: { kind: FilePatch["kind"] }) {
	return <span class={`mark ${marks[kind][1]}`} title={kind}><span aria-hidden="true">{marks[kind][0]}</span><span class="visually-hidden">{kind}</span></span>;
}

function Numbers({ old, new: after, type }: { old: number; new: number; type: DiffLine["type"] }) {
	if (type === "hunk" || type === "note") return null;
	return <><span class="line-number">{old || ""}</span><span class="line-number">{after || ""}</span></>;
}

/** FileLines shows the lines of a small diff without a list around them. */
export function FileLines({ file }: { file: FilePatch }) {
	const lines = file.binary ? [] : linesOf(file.text);
	return (
		<div class="file-lines" tabIndex={0} role="group" aria-label={`lines of ${visible(file.path)}`}>
			{lines.length === 0 && <p class="diff-note">{file.binary ? "A binary file: its content is not shown." : "No lines are shown."}</p>}
			{lines.slice(0, foldedLines).map((line) => (
				<div class={`diff-row ${line.type}`}><Numbers old={line.old} new={line.new} type={line.type} /><LineText line={line} /></div>
			))}
			{lines.length > foldedLines && <p class="diff-note">… {count(lines.length - foldedLines)} more lines</p>}
		</div>
	);
}

const signs: Partial<Record<DiffLine["type"], string>> = { add: "+", del: "−" };

function LineText({ line }: { line: DiffLine }) {
	const cut = line.text.length > longestLine;
	const text = visible(cut ? line.text.slice(0, longestLine) : line.text);
	const headed = line.type === "hunk" || line.type === "note";
	return (
		<>
			{!headed && <span class="sign">{signs[line.type] ?? " "}</span>}
			<span class="line-content">{text || " "}{cut && <span class="faint"> … {count(line.text.length - longestLine)} more characters</span>}</span>
		</>
	);
}
