// What the warning before the limit says and offers.

import { useEffect, useState } from "preact/hooks";
import { openDialog } from "../store/dialog.ts";
import { LimitWarning as Store, staleOutputs, type Limit } from "../store/limit.ts";
import { itemName } from "../store/edits.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { count, percent, plural, visible } from "../lib/format.ts";
import type { ContextItem, ContextOperation } from "../wire/types.ts";
import { Price } from "./price.tsx";
import { useResource } from "./useresource.ts";

/** LimitBanner warns, and drops the biggest stale outputs by one click. Then it offers the undo. */
export function LimitBanner({ store }: { store: ThreadStore }) {
	const s = store.part(Store);
	return (
		<div class="banner warning limit-warning" role="group" aria-label="Warning before the limit">
			<Icon name={s.shown.value ? "warning" : "check"} />
			<div class="limit-text">
				{s.dropped.value > 0 && <Dropped store={store} n={s.dropped.value} />}
				{s.shown.value && <Warning store={store} limit={s.limit.value!} size={s.size.value} />}
			</div>
			<button type="button" class="quiet" aria-label="Dismiss the warning" onClick={() => s.dismiss()}><Icon name="x" /></button>
		</div>
	);
}

function Dropped({ store, n }: { store: ThreadStore; n: number }) {
	const undo = async () => {
		await store.edits.undo();
		store.part(Store).dropped.value = 0;
	};
	return (
		<p role="status">{n === 1 ? "One output is" : `${n} outputs are`} not sent any more.{" "}
			<button type="button" class="small" onClick={() => void undo()}><Icon name="undo" />Undo</button></p>
	);
}

function Warning({ store, limit, size }: { store: ThreadStore; limit: Limit; size: number }) {
	const what = limit.compacts ? `Above ${count(limit.tokens)} tokens the server compacts the context.`
		: `The window of the model ends at ${count(limit.tokens)} tokens.`;
	return (
		<>
			<p role="status">The next request has {count(size)} tokens, {percent(size / limit.tokens)} of the limit. {what}</p>
			<Stale store={store} />
		</>
	);
}

/** Stale offers to drop the biggest outputs that the server suggests to take out. */
function Stale({ store }: { store: ThreadStore }) {
	const [busy, setBusy] = useState(false);
	const read = useResource(() => store.requests.call("context/suggest", { threadId: store.id }), [store]);
	const { items, revision } = store.context;
	useEffect(() => read.soon(), [items.value, revision.value]);
	const answer = read.value.value;
	const outputs = staleOutputs(answer?.suggestions ?? [], items.value);
	const compact = (
		<button type="button" class="small" onClick={() => openDialog({ kind: "compact", store })}>Compact…</button>
	);
	if (read.failure.value) return <p class="faint">{visible(read.failure.value.message)} {compact}</p>;
	if (!answer) return <p class="faint">Looking for stale outputs…</p>;
	if (outputs.length === 0) return <p>There are no stale outputs to drop. {compact}</p>;
	const edits: ContextOperation[] = [{ type: "setInclusion", ids: outputs.map((i) => i.id), included: false }];
	const drop = async () => {
		setBusy(true);
		const done = await store.requests.edit((c, threadId) =>
			c.call("context/apply", { threadId, edits, expectedRevision: revision.peek() }));
		if (done) store.part(Store).dropped.value = outputs.length;
		setBusy(false);
	};
	return (
		<>
			<div class="limit-actions">
				<button type="button" class="small primary" disabled={busy} aria-describedby="limit-price" onClick={() => void drop()}>{labelOf(outputs.length)}</button>
				<span id="limit-price"><Price store={store} change={{ edits }} /></span>
				{compact}
			</div>
			<details class="faint">
				<summary>Which ones</summary>
				<ul>{outputs.map((i) => <li key={i.id}>{nameWithTokens(i)}</li>)}</ul>
			</details>
		</>
	);
}

const numbers = ["", "the biggest stale output", "the two biggest stale outputs", "the three biggest stale outputs",
	"the four biggest stale outputs", "the five biggest stale outputs"];

const labelOf = (n: number): string => `Drop ${numbers[n] ?? plural(n, "stale output")}`;

const nameWithTokens = (i: ContextItem): string => `${itemName(i)} (${count(i.tokens)} tokens)`;
