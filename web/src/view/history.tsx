// The edits of the context.

import { useEffect, useState } from "preact/hooks";
import type { ThreadStore } from "../store/thread.ts";
import { attempt } from "../store/app.ts";
import { age, count, plural, visible } from "../lib/format.ts";
import type { ContextEdit } from "../wire/types.ts";

const names: Record<string, string> = {
	exclude: "Exclude", include: "Include", delete: "Delete", prune: "Exclude a category", pin: "Pin", unpin: "Unpin",
	replace: "Replace", apply: "Several edits", restore: "Restore", trim: "Trim", compact: "Compact", mask: "Shorten outputs",
	summarize: "Edit the summary", revert: "Revert",
};

export const editName = (e: ContextEdit): string => names[e.op] ?? e.op;

export function History({ store }: { store: ThreadStore }) {
	const [edits, setEdits] = useState<readonly ContextEdit[] | null>(null);
	const revision = store.context.revision.value;
	useEffect(() => {
		void attempt((c) => c.call("context/listEdits", { threadId: store.id, includeItems: true })).then((r) => r && setEdits(r.edits));
	}, [revision]);
	if (!edits) return <p class="hint">Loading…</p>;
	if (edits.length === 0) return <p class="hint">The context has no edits yet.</p>;
	const mark = (e: ContextEdit | null) => {
		const ids = new Set(e?.items?.map((i) => i.id));
		store.marked.value = new Set(store.context.items.value.flatMap((i) => (i.itemId && ids.has(i.id) ? [i.itemId] : [])));
	};
	const goto = (to: number) => void store.edit((c, threadId) => c.call("context/goto", { threadId, revision: to }));
	return (
		<ol class="history scroll" tabIndex={0} aria-label="Edits, newest first">
			{[...edits].reverse().map((e) => (
				<li class={e.undone ? "undone" : ""} onPointerEnter={() => mark(e)} onPointerLeave={() => mark(null)}
					onFocusIn={() => mark(e)} onFocusOut={() => mark(null)}>
					<button type="button" class="edit" onClick={() => goto(e.revision)} disabled={e.op === "revert"}
						title={e.op === "revert" ? "A revert cannot be undone" : "Go to the state after this edit"}>
						<span class="edit-name">{editName(e)}</span>
						<span class="faint">{plural(e.count, "item")}</span>
						{e.savedTokens !== 0 && <span class="tokens">{e.savedTokens > 0 ? "−" : "+"}{count(Math.abs(e.savedTokens))}</span>}
						<span class="faint age">{clientOf(e)}{age(e.at / 1000)}</span>
						{e.undone && <span class="badge off">undone</span>}
						{e.reason && <span class="faint edit-reason">{visible(e.reason)}</span>}
					</button>
				</li>
			))}
			<li><button type="button" class="edit" onClick={() => goto(0)}><span class="edit-name">Start</span><span class="faint">no edits</span></button></li>
		</ol>
	);
}

function clientOf(e: ContextEdit): string {
	return e.clientName ? `${e.clientName} · ` : "";
}
