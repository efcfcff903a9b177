// The price of a change of the context, before it happens.

import { useEffect, useRef } from "preact/hooks";
import type { ThreadStore } from "../store/thread.ts";
import { count, visible } from "../lib/format.ts";
import type { ContextPreviewParams, ContextPreviewResponse } from "../wire/types.ts";
import { NetPrice } from "./footer.tsx";
import { useResource } from "./useresource.ts";

/** Change is what context/preview can price. */
export type Change = Omit<ContextPreviewParams, "threadId">;

interface Priced {
	key: string;
	answer: ContextPreviewResponse;
}

interface Props {
	store: ThreadStore;
	change: Change;
	/** before precedes the price. */
	before?: string;
}

/** Price shows what a change would save and cost. It reads the price anew if the change or the context differs. */
export function Price({ store, change, before = "" }: Props) {
	const key = JSON.stringify(change);
	const newest = useRef({ key, change });
	const price = useResource<Priced>(async () => {
		const asked = newest.current;
		return { key: asked.key, answer: await store.requests.call("context/preview",
			{ threadId: store.id, ...asked.change }) };
	}, [store]);
	useEffect(() => {
		newest.current = { key, change };
		price.soon();
	}, [key, store.context.revision.value, store.context.items.value]);
	const failure = price.failure.value;
	const known = price.value.value;
	return (
		<p class="price" role="status">
			{before}
			{failure ? <span class="faint">{visible(failure.message)}</span>
				: known?.key === key ? <Answer answer={known.answer} /> : "Calculating…"}
		</p>
	);
}

function Answer({ answer: { before, after, netPrice, summary } }: { answer: ContextPreviewResponse }) {
	const most = summary?.atMost ? "at most " : "";
	return (
		<>
			{count(before.promptTokens)} → {most}{count(after.promptTokens)} tokens{": "}
			<NetPrice price={netPrice} promptTokens={before.promptTokens} />
			{summary && <span class="faint block">{summary.atMost
				? `The model has yet to write the summary. It counts here with its greatest length, ${count(summary.tokens)} tokens.`
				: `The summary has ${count(summary.tokens)} of these tokens.`}</span>}
		</>
	);
}
