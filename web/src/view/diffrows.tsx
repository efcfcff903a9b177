// The rows of the tree of changed files in the panel.

import type { Changes } from "../store/changes.ts";
import { linesOf, type DiffLine, type FilePatch, type LinePair, type TreeRow } from "../lib/patch.ts";
import { Icon } from "../lib/icons.tsx";
import { count, visible } from "../lib/format.ts";
import { editor } from "../wire/editor.ts";
import { inEditor } from "../wire/transport.ts";
import { CopyButton } from "../lib/copy.tsx";
import { foldedLines } from "./diff.tsx";

/** longestLine is the number of characters of a line that are shown. */
const longestLine = 2000;

/** DiffRow is a row of the tree of changes: a file or folder, or a line of an opened file. */
export type DiffRow =
	| { key: string; kind: "tree"; row: TreeRow<FilePatch> }
	| { key: string; kind: "line"; line: DiffLine; path: string; depth: number }
	| { key: string; kind: "pair"; pair: LinePair; path: string; depth: number }
	| { key: string; kind: "more"; path: string; hidden: number; depth: number }
	| { key: string; kind: "note"; text: string; depth: number };

/** Counts shows the numbers of lines. */
export function Counts({ additions, deletions }: { additions: number; deletions: number }) {
	return <span class="counts"><span class="added">+{count(additions)}</span> <span class="removed">−{count(deletions)}</span></span>;
}

interface RowProps<Kind = DiffRow["kind"]> {
	r: Extract<DiffRow, { kind: Kind }>;
	c: Changes;
	focused: boolean;
	isOpen(row: TreeRow<FilePatch>): boolean;
	toggle(row: TreeRow<FilePatch>): void;
	onFocus(): void;
	/** comment writes a comment on the line of a row. */
	comment(row: DiffRow): void;
	commented: boolean;
}

/** RowView shows a row. */
export function RowView({ r, ...p }: RowProps) {
	switch (r.kind) {
		case "tree":
			return <FileRow r={r} {...p} />;
		case "line":
			return (
				<div {...frameOf({ r, ...p })} class={`diff-row ${r.line.type} ${p.commented ? "commented" : ""}`}
					aria-level={r.depth + 2} title={isText(r.line) ? commentHint : undefined}
					onClick={() => isText(r.line) && commentUnlessSelected(p, r)}>
					<span role="gridcell" class="diff-cell">
						<Numbers old={r.line.old} new={r.line.new} type={r.line.type} /><LineText line={r.line} /></span>
				</div>
			);
		case "pair":
			return <PairRow r={r} {...p} />;
		case "more":
			return <MoreRow r={r} {...p} />;
		case "note":
			return (
				<div {...frameOf({ r, ...p })} class="diff-note" aria-level={r.depth + 2}><span role="gridcell">{r.text}</span></div>
			);
	}
}

const commentHint = "Click, or C: comment on this line";

const isText = (line: DiffLine): boolean => line.type !== "hunk" && line.type !== "note";

/** commentUnlessSelected writes a comment, unless the click ends the selection of a text. */
function commentUnlessSelected({ comment }: Pick<RowProps, "comment">, r: DiffRow): void {
	if (getSelection()?.isCollapsed !== false) comment(r);
}

/** frameOf returns the attributes that each row has. */
function frameOf({ r, focused, onFocus }: Pick<RowProps, "r" | "focused" | "onFocus">) {
	return { id: `d-${r.key}`, role: "row" as const, tabIndex: focused ? 0 : -1, onFocus };
}

function FileRow(p: RowProps<"tree">) {
	const { row } = p.r;
	const open = p.isOpen(row);
	return (
		<div {...frameOf(p)} class={`tree-row ${row.file ? "file" : "folder"}`} aria-level={row.depth + 1}
			aria-expanded={open}
			onClick={() => p.toggle(row)}>
			<span role="gridcell" class="tree-name" style={{ paddingLeft: `${row.depth * 14}px` }} title={visible(row.path)}>
				<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				{row.file && <Mark kind={row.file.kind} />}<span class="ellipsis">{visible(row.name)}{!row.file && "/"}</span>
				{row.file?.binary && <span class="badge">binary</span>}
				{row.file?.text === "" && !row.file.binary && <span class="badge edited">cut</span>}
			</span>
			<span role="gridcell">
				{!row.file && <span class="faint">{row.count} </span>}
				<Counts additions={row.additions} deletions={row.deletions} /></span>
			<span role="gridcell" class="tree-copy" onClick={(e) => e.stopPropagation()}>
				{row.file && inEditor() && <EditorButtons file={row.file} c={p.c} />}
				{row.file && <CopyButton text={row.path} label="Copy the path" />}</span>
		</div>
	);
}

/** EditorButtons show a change and its file in the editor around the page. */
function EditorButtons({ file, c }: { file: FilePatch; c: Changes }) {
	return (
		<>
			<button type="button" class="quiet" aria-label="Open the change in the editor" title="Open the change in the editor"
				onClick={() => c.openInEditor(file.path)}><Icon name="wide" /></button>
			{file.kind !== "deleted" && (
				<button type="button" class="quiet" aria-label="Open the file in the editor" title="Open the file in the editor"
					onClick={() => editor.request({ type: "appserver/openFile", path: c.absolute(file.path), line: 0 })}><Icon name="file" /></button>
			)}
		</>
	);
}

/** PairRow shows a row of a split view. Lines that are no content go through both halves. */
function PairRow(p: RowProps<"pair">) {
	const { left, right } = p.r.pair;
	if (left && left === right && left.type !== "same") {
		return (
			<div {...frameOf(p)} class={`diff-row ${left.type}`} aria-level={p.r.depth + 2}>
				<span role="gridcell" class="diff-cell"><LineText line={left} /></span>
			</div>
		);
	}
	return (
		<div {...frameOf(p)} class={`diff-row split ${p.commented ? "commented" : ""}`} aria-level={p.r.depth + 2}
			title={commentHint} onClick={() => commentUnlessSelected(p, p.r)}>
			{([["old", left], ["new", right]] as const).map(([side, line]) => (
				<span role="gridcell" class={`diff-cell half ${line?.type ?? "none"}`}>
					{line && <><span class="line-number">{line[side] || ""}</span><LineText line={line} /></>}
				</span>
			))}
		</div>
	);
}

function MoreRow(p: RowProps<"more">) {
	const { id, tabIndex, ...frame } = frameOf(p);
	const { r, c } = p;
	return (
		<div {...frame} id={id} class="diff-more" aria-level={r.depth + 2} tabIndex={-1}>
			<span role="gridcell"><button id={id} type="button" class="small" tabIndex={tabIndex}
				onClick={() => (c.whole.value = new Set([...c.whole.value, r.path]))}>Show {count(r.hidden)} more
					lines</button></span>
		</div>
	);
}

const marks: Record<FilePatch["kind"], [string, string]> = {
	created: ["A", "added"], deleted: ["D", "removed"], modified: ["M", ""], renamed: ["R", ""],
};

/** Mark shows what happened to a file. */
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
				<div class={`diff-row ${line.type}`}>
					<Numbers old={line.old} new={line.new} type={line.type} /><LineText line={line} /></div>
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
