// Dialogs that edit the context.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { categoryName } from "../wire/contextwords.ts";
import { lastTurn } from "../store/reverts.ts";
import type { ThreadStore } from "../store/thread.ts";
import { count, plural } from "../lib/format.ts";
import { toggled } from "../lib/toggled.ts";
import type { ContextCategory, ContextItem } from "../wire/types.ts";
import { Frame } from "./frame.tsx";
import { Price } from "./price.tsx";
import { useResource } from "./useresource.ts";

/** Trim asks how many turns stay. */
export function Trim({ store }: { store: ThreadStore }) {
	const [keep, setKeep] = useState(2);
	const [summary, setSummary] = useState("");
	// The turns to keep are counted from this one.
	const last = useMemo(() => lastTurn(store.requests).catch(() => null), [store]);
	return (
		<Frame title="Trim the context" action="Trim" run={() => store.requests.edit(async (c, threadId) =>
			c.call("thread/context/trim", {
				threadId, keepLastNTurns: keep, summary: summary.trim() || null, expectedLastTurnId: await last,
			}))}>
			<p>Earlier turns are not sent to the model any more. They stay readable, and undo brings them back.</p>
			<label class="field"><span>Turns to keep</span>
				<input type="number" min={0} value={keep}
					onInput={(e) => setKeep(Math.max(0, Math.floor(e.currentTarget.valueAsNumber || 0)))} />
			</label>
			<label class="field"><span>Summary of the removed turns (optional)</span>
				<textarea rows={3} value={summary} onInput={(e) => setSummary(e.currentTarget.value)} />
			</label>
			<Price store={store} change={{ trim: { keepLastNTurns: keep, summary: summary.trim() || null } }} />
		</Frame>
	);
}

/** Prune excludes the items of categories. */
export function Prune({ store }: { store: ThreadStore }) {
	const [chosen, setChosen] = useState<ReadonlySet<ContextCategory>>(new Set(["toolOutput"]));
	const usage = store.context.usage.value;
	const exclude = async () => {
		const ids = store.context.items.value.filter((i) => chosen.has(i.category) && i.included && !i.pinned)
			.map((i) => i.id);
		await store.plan.change(ids, { included: false });
	};
	return (
		<Frame title="Exclude categories" action={store.plan.direct.value ? "Exclude" : "Add to the plan"} disabled={chosen.size === 0} run={exclude}>
			<fieldset>
				<legend class="visually-hidden">Categories</legend>
				{usage?.byCategory.map((c) => (
					<label class="option">
						<input type="checkbox" checked={chosen.has(c.category)} onChange={() => setChosen(toggled(chosen, c.category))} />
						<span>{categoryName(c.category)} <span class="faint">
							{plural(c.count, "item")}, {count(c.includedTokens)} tokens</span></span>
					</label>
				))}
			</fieldset>
			<p class="faint">Pinned items stay.</p>
		</Frame>
	);
}

/** Restore takes all edits back. */
export function Restore({ store }: { store: ThreadStore }) {
	return (
		<Frame title="Restore the full context?" action="Restore" run={() => store.requests.edit((c, threadId) => c.call("context/restore", { threadId, expectedRevision: store.context.revision.value }))}>
			<p>Excluded and deleted items, trimmed turns and original texts are sent again. Undo reverts the restore.</p>
			<Price store={store} change={{ restore: true }} />
		</Frame>
	);
}

/** maxEdited is the number of characters up to which the page edits a text. */
const maxEdited = 500_000;

/**
 * Replace edits the whole text of an item. The list has only the beginning of it, so the text is read first, unless it
 * is planned already.
 */
export function Replace({ store, item }: { store: ThreadStore; item: ContextItem }) {
	const planned = store.plan.changes.value.get(item.id)?.text;
	const [value, setValue] = useState<string | null>(planned ?? null);
	const read = useResource(() => (planned === undefined ? store.context.readText(item.id) : Promise.resolve(null)),
		[item.id]);
	const whole = read.value.value;
	const tooLong = value === null && whole !== null && whole.text.length > maxEdited;
	useEffect(() => {
		if (value === null && whole !== null && whole.text.length <= maxEdited) setValue(whole.text);
	}, [whole]);
	const area = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => { // so that no key is lost after the text is shown
		area.current?.focus();
		area.current?.setSelectionRange(0, 0);
	}, [value === null]);
	const failure = read.failure.value;
	return (
		<Frame title="Replace the text" action={store.plan.direct.value ? "Replace" : "Add to the plan"} disabled={value === null}
			{...(tooLong || failure ? {} : { run: () => store.plan.change([item.id], { text: value! }) })}>
			{failure ? <p class="error-text" role="alert">{failure.message}</p>
				: tooLong ? <p role="status">This text has {count(whole.text.length)} characters. The page edits texts of up to {count(maxEdited)}.
					Exclude the item, or replace its text with <code>context/replace</code>.</p>
				: value === null ? <p class="faint" role="status">Loading the whole text…</p>
				: <>
					<p>The model gets this text. The original stays in the rollout.</p>
					{whole !== null && whole.others > 0 && <p class="faint">The item also has {plural(whole.others, "part")} that {whole.others === 1 ? "is" : "are"} no
						text, such as images. A replacement does not have {whole.others === 1 ? "it" : "them"}.</p>}
					<textarea ref={area} class="mono" rows={12} value={value} aria-label="New text"
						onInput={(e) => setValue(e.currentTarget.value)} />
				</>}
		</Frame>
	);
}

/** EditSummary edits the summary of a trim point. */
export function EditSummary({ store, trimPointId, text }: { store: ThreadStore; trimPointId: string; text: string }) {
	const [value, setValue] = useState(text);
	return (
		<Frame title="Summary of earlier messages" action="Save"
			run={() => store.requests.edit((c, threadId) =>
				c.call("thread/context/summarize", { threadId, trimPointId, summary: value }))}>
			<textarea rows={8} value={value} aria-label="Summary" onInput={(e) => setValue(e.currentTarget.value)} />
		</Frame>
	);
}
