// The full text of a context item, and why it is or is not sent.

import { useEffect, useState } from "preact/hooks";
import { replaceable } from "../store/context.ts";
import { sentState } from "../wire/contextwords.ts";
import type { EditPlan } from "../store/plan.ts";
import type { ThreadStore } from "../store/thread.ts";
import { attempt } from "../store/app.ts";
import { Icon } from "../lib/icons.tsx";
import { count } from "../lib/format.ts";
import { CopyButton } from "../lib/copy.tsx";
import type { ContextItem, ContextPart, ContextReadItemResponse } from "../wire/types.ts";
import { openDialog } from "../store/dialog.ts";
import { reveal } from "../store/reveal.ts";
import { ItemNote } from "./note.tsx";

/** maxShown is the number of characters of a text that is shown at first. */
const maxShown = 4000;

/** useContent reads an item in full. It reads it again when the version changes. */
function useContent(store: ThreadStore, id: string, version: unknown): ContextReadItemResponse | null {
	const [content, setContent] = useState<ContextReadItemResponse | null>(null);
	useEffect(() => {
		let live = true;
		void attempt((c) => c.call("context/readItem", { threadId: store.id, id })).then((r) => {
			if (live && r) setContent(r);
		});
		return () => {
			live = false;
		};
	}, [version]);
	return content;
}

/** ItemDetails shows an item of the list in full. */
export function ItemDetails({ item, store }: { item: ContextItem; store: ThreadStore }) {
	const content = useContent(store, item.id, item);
	const change = (c: Parameters<EditPlan["change"]>[1]) => void store.plan.change([item.id], c);
	const why = content?.reason?.text ?? (sentState(item) || "sent");
	const replaced = item.replaced && content?.sent;
	return (
		<div class="details">
			<p class="why"><Icon name={item.inPrompt ? "eye" : "eyeOff"} /><span>{why}</span></p>
			{content === null ? <p class="faint">Loading…</p> : (
				<>
					{replaced && <Parts title="Sent instead" parts={content.sent!} />}
					<Parts title={replaced ? "Original" : ""} parts={content.original} />
				</>
			)}
			<ItemNote item={item} threadId={store.id} />
			<div class="details-actions">
				<button type="button" class="small" onClick={() => change({ included: !item.included })}>{item.included ? "Exclude" : "Include"}</button>
				<button type="button" class="small" onClick={() => change({ pinned: !item.pinned })}>{item.pinned ? "Unpin" : "Pin"}</button>
				{replaceable(item) && (
					<button type="button" class="small" onClick={() => openDialog({ kind: "replace", store, item })}>Replace…</button>
				)}
				<button type="button" class="small" onClick={() => change({ deleted: true })}>Delete</button>
				<ShowInTimeline item={item} store={store} />
				{item.agentThreadId && <a class="agent-open" href={`#/thread/${item.agentThreadId}`}>Open the agent's thread</a>}
				<span class="faint">{item.id} · {count(item.bytes)} bytes</span>
			</div>
		</div>
	);
}

function ShowInTimeline({ item, store }: { item: ContextItem; store: ThreadStore }) {
	const { itemId, turnId } = item;
	if (!itemId || !turnId) return null;
	return <button type="button" class="small" onClick={() => void store.items.load(itemId, turnId).then((found) => found && reveal.timeline(itemId))}>Show in conversation</button>;
}

/** RemovedDetails shows an item that is not in the list any more. */
export function RemovedDetails({ id, store }: { id: string; store: ThreadStore }) {
	const include = () => void
		store.requests.edit((c, threadId) => c.call("context/setInclusion", { threadId, ids: [id], included: true }));
	const content = useContent(store, id, store.context.revision.value);
	if (!content) return <div class="details"><p class="faint">Loading…</p></div>;
	return (
		<div class="details">
			<p class="why"><Icon name="eyeOff" /><span>{content.reason.text}</span></p>
			<Parts title="" parts={content.original} />
			<div class="details-actions">
				<button type="button" class="small" onClick={include} title="The next requests have it again, at its old place">Include</button>
				<ShowInTimeline item={content.item} store={store} />
				<span class="faint">{id} · {count(content.item.bytes)} bytes</span>
			</div>
		</div>
	);
}

function Parts({ title, parts }: { title: string; parts: readonly ContextPart[] }) {
	const [all, setAll] = useState(false);
	return (
		<>
			{title && <div class="details-title">{title}</div>}
			{parts.map((p) => {
				if (p.url?.startsWith("data:image/")) return <img class="attached" src={p.url} alt="image of the item" />;
				const text = p.text ?? p.url ?? "";
				return (
					<div class="details-text">
						<pre tabIndex={0} aria-label="text of the item">{all ? text : text.slice(0, maxShown)}</pre>
						<CopyButton text={text} />
						{!all && text.length > maxShown && (
							<button type="button" class="small" onClick={() => setAll(true)}>Show {count(text.length - maxShown)} more characters</button>
						)}
					</div>
				);
			})}
		</>
	);
}
