// The edits of the context.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { ThreadStore } from "../store/thread.ts";
import { attempt } from "../store/app.ts";
import { titleOfEdit, undoTarget } from "../store/edits.ts";
import { Icon } from "../lib/icons.tsx";
import { age, count, visible } from "../lib/format.ts";
import type { ContextEdit } from "../wire/types.ts";
import { EditItems, ItemName, type Names } from "./edititems.tsx";
import { Price } from "./price.tsx";
import { Usage } from "./usage.tsx";

/** History lists the edits of the context. */
export function History({ store }: { store: ThreadStore }) {
	const [edits, setEdits] = useState<readonly ContextEdit[] | null>(null);
	const revision = store.context.revision.value;
	useEffect(() => {
		void attempt((c) => c.call("context/listEdits", { threadId: store.id, includeItems: true }))
			.then((r) => r && setEdits(r.edits));
	}, [revision]);
	return (
		<>
			<Usage store={store} />
			{!edits ? <p class="hint">Loading…</p>
				: edits.length === 0 ? <p class="hint">The context has no edits yet.</p>
				: <Edits store={store} edits={edits} />}
		</>
	);
}

function Edits({ store, edits }: { store: ThreadStore; edits: readonly ContextEdit[] }) {
	const revision = store.context.revision.value;
	const items = store.context.items.value;
	const names = useMemo<Names>(() => new Map(items.map((i) => [i.id, i])), [items]);
	const [pointed, setPointed] = useState<ContextEdit | "start" | null>(null);
	const point = (e: ContextEdit | "start" | null) => {
		setPointed(e);
		store.mark(e && e !== "start" ? e.items?.map((i) => i.id) ?? [] : []);
	};
	const goto = (to: number) =>
		void store.requests.edit((c, threadId) =>
			c.call("context/goto", { threadId, revision: to, expectedRevision: revision }));
	const last = edits.findLast((e) => !e.undone);
	return (
		<>
			<Ahead store={store} edits={edits} pointed={pointed} names={names} />
			<ol class="history scroll" tabIndex={0} aria-label="Edits, newest first">
				{[...edits].reverse().map((e, i) => (
					<li key={e.revision} class={e.undone ? "undone" : ""} onPointerEnter={() => point(e)}
						onPointerLeave={() => point(null)}
						onFocusIn={() => point(e)} onFocusOut={() => point(null)}>
						<Edit store={store} edit={e} names={names} reads={i < maxRead} goto={goto} />
						{e.op === "revert" && e === last && <UndoRevert store={store} />}
						{e.reason && !e.undone && <TakeBack store={store} edit={e} last={e === last} />}
					</li>
				))}
				<li onPointerEnter={() => point("start")} onPointerLeave={() => point(null)} onFocusIn={() => point("start")}
					onFocusOut={() => point(null)}>
					<button type="button" class="edit" onClick={() => goto(0)}><span class="edit-name">Start</span><span class="faint">no edits</span></button>
				</li>
			</ol>
		</>
	);
}

/** maxRead is the number of edits whose items are read from the server if they are not in the list any more. */
const maxRead = 20;

interface AheadProps {
	store: ThreadStore;
	edits: readonly ContextEdit[];
	pointed: ContextEdit | "start" | null;
	names: Names;
}

/** Ahead has the prices of one click: of the undo of the last edit, and of the way to the edit that is pointed at. */
function Ahead({ store, edits, pointed, names }: AheadProps) {
	const undo = undoTarget(edits);
	const to = pointed === "start" ? 0 : pointed && pointed.op !== "revert" ? pointed.revision : null;
	return (
		<div class="edits-ahead">
			{undo && (
				<div class="undo-ahead">
					<div>
						<p class="undo-title"><EditTitle edit={undo.edit} store={store} names={names} prefix="Undo " /></p>
						<Price store={store} change={{ revision: undo.revision }} />
					</div>
					<button type="button" class="small" aria-label="Undo this edit" onClick={() => void store.edits.undo()}><Icon name="undo" />Undo</button>
				</div>
			)}
			<div class="goto-ahead faint">
				{to === null ? <p class="price">Point at an edit to see the price of going to it.</p>
					: <Price key={to} store={store} change={{ revision: to }} before={to === 0 ? "To the start: " : "To the state after it: "} />}
			</div>
		</div>
	);
}

interface TitleProps {
	edit: ContextEdit;
	store: ThreadStore;
	names: Names;
	prefix?: string;
	reads?: boolean;
}

/** EditTitle names an edit, and the item if it changed one. */
function EditTitle({ edit, store, names, prefix = "", reads = true }: TitleProps) {
	const title = titleOfEdit(edit);
	return (
		<>
			<span class="edit-name">{prefix}{title.name}</span>
			{title.itemId !== null && <span class="edit-item ellipsis">{" "}
				<ItemName store={store} id={title.itemId} names={names} reads={reads} /></span>}
			{title.count !== "" && <span class="faint"> {title.count}</span>}
		</>
	);
}

interface EditProps {
	store: ThreadStore;
	edit: ContextEdit;
	names: Names;
	reads: boolean;
	goto(revision: number): void;
}

/** Edit is the row of an edit. Its items are listed below it on demand. */
function Edit({ store, edit: e, names, reads, goto }: EditProps) {
	const [open, setOpen] = useState(false);
	const items = e.items ?? [];
	return (
		<>
			<button type="button" class="edit" onClick={() => goto(e.revision)} disabled={e.op === "revert"}
				title={e.op === "revert" ? "A revert is undone by its button, until the next message" : "Go to the state after this edit"}>
				<EditTitle edit={e} store={store} names={names} reads={reads} />
				{e.savedTokens !== 0 && <span class="tokens">
					{e.savedTokens > 0 ? "−" : "+"}{count(Math.abs(e.savedTokens))}</span>}
				<span class="faint age">{clientOf(e)}{age(e.at / 1000)}</span>
				{e.reason && <span class="badge auto">automatic</span>}
				{e.undone && <span class="badge off">undone</span>}
				{e.reason && <span class="faint edit-reason">{visible(e.reason)}</span>}
			</button>
			{items.length > 0 && (
				<button type="button" class="quiet edit-open" aria-expanded={open} aria-label={`Items of this edit: ${titleOfEdit(e).name}`}
					title={open ? "Hide the items" : "Show the items"} onClick={() => setOpen(!open)}>
					<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span></button>
			)}
			{open && <EditItems store={store} edit={e} names={names} />}
		</>
	);
}

/** UndoRevert brings back the turns of the last revert. The server refuses it after the next turn. */
function UndoRevert({ store }: { store: ThreadStore }) {
	const run = () => void store.requests.edit((c, threadId) => c.call("thread/revert/undo", { threadId }));
	return <button type="button" class="small" onClick={run} aria-label="Undo the revert">Undo</button>;
}

/**
 * TakeBack undoes an automatic edit. If later edits follow, it includes the items again, so that the later ones stay.
 */
function TakeBack({ store, edit, last }: { store: ThreadStore; edit: ContextEdit; last: boolean }) {
	const changed = new Set(edit.items?.map((i) => i.id));
	const out = store.context.items.value.filter((i) => changed.has(i.id) && !i.included).map((i) => i.id);
	const run = () => void store.requests.edit((c, threadId) => (last
		? c.call("context/undo", { threadId, expectedRevision: store.context.revision.value })
		: c.call("context/setInclusion",
			{ threadId, ids: out, included: true, expectedRevision: store.context.revision.value })));
	if (!last && out.length === 0) return null;
	return (
		<button type="button" class="small" onClick={run} aria-label={last ? "Undo the automatic edit" : "Include again the items of this edit"}
			title={last ? "" : "Later edits stay"}>{last ? "Undo" : "Include again"}</button>
	);
}

function clientOf(e: ContextEdit): string {
	return e.clientName ? `${e.clientName} · ` : "";
}
