// The edits of the context.

import { useEffect, useState } from "preact/hooks";
import type { ThreadStore } from "../store/thread.ts";
import { attempt } from "../store/app.ts";
import { age, count, plural, visible } from "../lib/format.ts";
import type { ContextEdit } from "../wire/types.ts";
import { Usage } from "./usage.tsx";

const names: Record<string, string> = {
	exclude: "Exclude", include: "Include", delete: "Delete", prune: "Exclude a category", pin: "Pin", unpin: "Unpin",
	replace: "Replace", note: "Note", apply: "Several edits", restore: "Restore", trim: "Trim", compact: "Compact", mask: "Shorten outputs",
	summarize: "Edit the summary", revert: "Revert",
};

/** editName returns the kind of an edit as people read it. */
export const editName = (e: ContextEdit): string => names[e.op] ?? e.op;

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
	const mark = (e: ContextEdit | null) => store.mark(e?.items?.map((i) => i.id) ?? []);
	const revision = store.context.revision.value;
	const goto = (to: number) =>
		void store.requests.edit((c, threadId) =>
			c.call("context/goto", { threadId, revision: to, expectedRevision: revision }));
	const last = edits.findLast((e) => !e.undone);
	return (
		<ol class="history scroll" tabIndex={0} aria-label="Edits, newest first">
			{[...edits].reverse().map((e) => (
				<li key={e.revision} class={e.undone ? "undone" : ""} onPointerEnter={() => mark(e)}
					onPointerLeave={() => mark(null)}
					onFocusIn={() => mark(e)} onFocusOut={() => mark(null)}>
					<button type="button" class="edit" onClick={() => goto(e.revision)} disabled={e.op === "revert"}
						title={e.op === "revert" ? "A revert is undone by its button, until the next message" : "Go to the state after this edit"}>
						<span class="edit-name">{editName(e)}</span>
						<span class="faint">{plural(e.count, "item")}</span>
						{e.savedTokens !== 0 && <span class="tokens">
							{e.savedTokens > 0 ? "−" : "+"}{count(Math.abs(e.savedTokens))}</span>}
						<span class="faint age">{clientOf(e)}{age(e.at / 1000)}</span>
						{e.reason && <span class="badge auto">automatic</span>}
						{e.undone && <span class="badge off">undone</span>}
						{e.reason && <span class="faint edit-reason">{visible(e.reason)}</span>}
					</button>
					{e.op === "revert" && e === last && <UndoRevert store={store} />}
					{e.reason && !e.undone && <TakeBack store={store} edit={e} last={e === last} />}
				</li>
			))}
			<li><button type="button" class="edit" onClick={() => goto(0)}><span class="edit-name">Start</span><span class="faint">no edits</span></button></li>
		</ol>
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
