// The dialog that compacts the context: at once, or by a draft whose summary is edited beside its losses.

import { useEffect, useRef, useState } from "preact/hooks";
import { categoryName, lineOf } from "../wire/contextwords.ts";
import { CompactionDraft, type Strategy } from "../store/compaction.ts";
import type { ThreadStore } from "../store/thread.ts";
import { draftReport } from "../store/losses.ts";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { Icon } from "../lib/icons.tsx";
import { count, plural, visible } from "../lib/format.ts";
import type { CompactionLoss, ContextItem, PruneRange } from "../wire/types.ts";
import { closeDialog } from "../store/dialog.ts";
import { Frame } from "./frame.tsx";
import { kindsOf, lossTitles, Omitted } from "./losses.tsx";
import { Price } from "./price.tsx";

const strategies: readonly [Strategy, string, string][] = [
	["summary", "Summary by the model", "The model writes a summary of older turns."],
	["local", "Summary without a model", "Facts are extracted: files, commands, decisions. It costs no request."],
	["userMessages", "Your messages only", "Only your own messages of older turns stay."],
	["mask", "Shorten tool outputs", "Old tool outputs are replaced by placeholders."],
];

/** Which turns a draft replaces. Null is the range of the configuration. */
type RangeName = "usual" | "all" | "keepLast";

/** Compact asks how to compact, and shows the draft. */
export function Compact({ store }: { store: ThreadStore }) {
	const [strategy, setStrategy] = useState<Strategy>("summary");
	const [range, setRange] = useState<RangeName>("usual");
	const [keep, setKeep] = useState(2);
	const [draft, setDraft] = useState<CompactionDraft | null>(null);
	if (draft) return <Editor store={store} draft={draft} />;
	const busy = store.turns.current.value !== null;
	const chosen: PruneRange | null = range === "usual" ? null : range === "all" ? "all"
		: { keepLastTurns: { count: keep } };
	const review = () => {
		const next = new CompactionDraft(store.requests, store.context, (run) => store.watch(run), strategy, chosen);
		setDraft(next);
		void next.propose();
		return false;
	};
	return (
		<Frame title="Compact the context" action="Review the draft" disabled={busy} run={review}
			extra={<button type="button" disabled={busy || range !== "usual"} title={range === "usual" ? "" : "Other turns need a review"}
				onClick={() => {
					closeDialog();
					void store.requests.edit((c, threadId) => c.call("thread/compact/start", { threadId, strategy }));
				}}>Compact now</button>}>
			{busy && <p class="error-text">A turn is in progress. Compact after it.</p>}
			<fieldset>
				<legend>How</legend>
				{strategies.map(([value, label, text]) => (
					<label class="option">
						<input type="radio" name="strategy" checked={strategy === value} onChange={() => setStrategy(value)} />
						<span>{label}<span class="faint block">{text}</span></span>
					</label>
				))}
			</fieldset>
			<label class="field"><span>Turns to replace</span>
				<select value={range} onChange={(e) => setRange(e.currentTarget.value as RangeName)}>
					<option value="usual">the usual ones (the last turns of the configuration stay)</option>
					<option value="keepLast">all but the last turns</option>
					<option value="all">all</option>
				</select>
			</label>
			{range === "keepLast" && (
				<label class="field"><span>Turns to keep</span>
					<input type="number" min={1} value={keep}
						onInput={(e) => setKeep(Math.max(1, Math.floor(e.currentTarget.valueAsNumber || 1)))} />
				</label>
			)}
			{!busy && <Price store={store} change={{ compact: { strategy, range: chosen } }} />}
		</Frame>
	);
}

function Editor({ store, draft: d }: { store: ThreadStore; draft: CompactionDraft }) {
	useEffect(() => () => d.cancel(), []); // a draft that was applied is gone, so this changes nothing
	const draft = d.draft.value;
	const ready = draft !== null && !d.writing.value && !d.expired.value;
	return (
		<Frame wide title="Draft of a compaction" action="Compact" disabled={!ready || (draft.strategy !== "mask" && d.text.value.trim() === "")}
			run={() => d.commit()}>
			<DraftHead d={d} />
			<div class="draft">
				<Replaced store={store} d={d} />
				<Summary d={d} />
				<Losses d={d} />
			</div>
		</Frame>
	);
}

function DraftHead({ d }: { d: CompactionDraft }) {
	const draft = d.draft.value;
	return (
		<div class="draft-head">
			{d.failure.value !== "" && <p class="error-text" role="alert">{d.failure.value}</p>}
			{d.expired.value && (
				<p class="banner warning" role="alert">
					<Icon name="warning" /><span>The context changed since the draft was made. Your text stays.</span>
					<button type="button" onClick={() => void d.renew()}>Make a new draft</button>
				</p>
			)}
			{draft?.warning && <p class="banner warning" role="status"><Icon name="warning" /><span>{draft.warning}</span></p>}
			{d.writing.value ? (
				<p role="status">The model writes the summary… <button type="button" class="small" onClick={() => d.cancel()}>Stop</button></p>
			) : draft && (
				<p><strong>
					{count(draft.tokensBefore)} → {d.text.value === draft.summary && d.pinned.value.size === 0 ? ""
						: "about "}{count(d.tokensAfter)} tokens</strong>
					<span class="faint"> in the next request · replaces {plural(draft.replaces.itemIds.length, "item")} of {plural(draft.replaces.turnIds.length, "turn")}</span></p>
			)}
		</div>
	);
}

interface ReplacedRow {
	key: string;
	item: ContextItem;
}

function Replaced({ store, d }: { store: ThreadStore; d: CompactionDraft }) {
	const ids = new Set(d.draft.value?.replaces.itemIds ?? []);
	const rows: ReplacedRow[] = store.context.items.value.filter((i) => ids.has(i.id))
		.map((item) => ({ key: item.id, item }));
	const tokens = rows.reduce((sum, r) => sum + (r.item.inPrompt ? r.item.tokens : 0), 0);
	const handle = useRef<ListHandle>(null);
	const shown = d.shown.value;
	useEffect(() => handle.current?.show(rows.findIndex((r) => shown.has(r.key))), [shown]);
	return (
		<section class="draft-part" aria-label="What goes">
			<h3>What goes <span class="faint">{count(tokens)} tokens</span></h3>
			{rows.length === 0 ? <p class="hint">{d.writing.value ? "Waiting for the draft…" : "Nothing."}</p> : (
				<VirtualList rows={rows} estimate={30} class="draft-items" label="Replaced items" role="list" rowRole="listitem" handle={handle}
					render={({ item }) => (
						<div class={`draft-item ${d.pinned.value.has(item.id) ? "stays" : ""} ${shown.has(item.id) ? "highlighted" : ""}`}
							aria-current={shown.has(item.id) ? "true" : undefined}>
							<span class={`category cat-${item.category}`}><i aria-hidden="true" />{categoryName(item.category)}</span>
							<span class="preview" title={visible(lineOf(item))}>{visible(lineOf(item))}</span>
							{d.pinned.value.has(item.id) && <span class="badge pinned"><Icon name="pin" />stays</span>}
							<span class="tokens">{count(item.tokens)}</span>
						</div>
					)} />
			)}
		</section>
	);
}

function Summary({ d }: { d: CompactionDraft }) {
	const writing = d.writing.value;
	const text = writing && d.text.value === "" ? d.streamed.value : d.text.value;
	if (d.draft.value?.strategy === "mask" && !writing) {
		return (
			<section class="draft-part" aria-label="Summary">
				<h3>Summary</h3>
				<p class="hint">There is none: the outputs become placeholders.</p>
			</section>
		);
	}
	return (
		<section class="draft-part" aria-label="Summary">
			<h3>Summary <span class="faint">{plural([...text].length, "character")}</span></h3>
			<textarea value={text} readOnly={writing} aria-label="Summary" aria-busy={writing} onInput={(e) => (d.text.value = e.currentTarget.value)} />
		</section>
	);
}

function Losses({ d }: { d: CompactionDraft }) {
	const draft = d.draft.value;
	const { rulesAdded, losses, omitted } = draft ? draftReport(draft) : { rulesAdded: [], losses: [], omitted: 0 };
	const open = losses.filter((l) => !d.isCovered(l)).length;
	return (
		<section class="draft-part" aria-label="Losses">
			<h3>Losses <span class="faint">{draft && !d.writing.value ? `${open} of ${losses.length} open` : ""}</span></h3>
			{d.writing.value ? <p class="hint">They are known when the summary is written.</p>
				: losses.length + rulesAdded.length === 0 ? <p class="hint">The summary mentions all files, commands, decisions, questions and rules that were found.</p> : (
					<div class="draft-losses scroll" tabIndex={0} role="group" aria-label="Rules that were added, and facts that the summary does not mention">
						{rulesAdded.length > 0 && (
							<>
								<h4>Rules of yours that were added to the summary</h4>
								<ul>{rulesAdded.map((rule) => <AddedRule d={d} rule={rule} />)}</ul>
							</>
						)}
						{kindsOf(losses).map((kind) => (
							<>
								<h4>{lossTitles[kind]}</h4>
								<ul>{losses.filter((l) => l.kind === kind).map((l) => <Loss d={d} loss={l} />)}</ul>
							</>
						))}
						<Omitted n={omitted} />
					</div>
				)}
		</section>
	);
}

/** AddedRule is a rule that the summary lacked. A rule that the user removes from the text is not added again later. */
function AddedRule({ d, rule }: { d: CompactionDraft; rule: string }) {
	const kept = d.text.value.includes(rule);
	return (
		<li>
			<span class="loss-text">{visible(rule)}</span>
			{!kept && (
				<span class="loss-actions">
					<span class="warn-text">It is not in the text any more. No later compaction adds it.</span>
					<button type="button" class="small" onClick={() => d.insertText(rule)}>Insert</button>
				</span>
			)}
		</li>
	);
}

function Loss({ d, loss }: { d: CompactionDraft; loss: CompactionLoss }) {
	const covered = d.isCovered(loss);
	const pinned = d.isPinned(loss);
	return (
		<li class={covered ? "covered" : ""}>
			<span class="loss-text">{visible(loss.text)}</span>
			<span class="loss-actions">
				{loss.itemIds.length > 0 && <button type="button" class="small" aria-pressed={d.isShown(loss)}
					aria-label={`Show the item: ${loss.text}`} onClick={() => d.show(loss)}>Show</button>}
				{d.draft.value?.strategy !== "mask" && (
					<button type="button" class="small" disabled={d.text.value.includes(loss.text)}
						onClick={() => d.insertText(loss.text)}>
						{d.text.value.includes(loss.text) ? "Inserted" : "Insert"}
					</button>
				)}
				{loss.itemIds.length > 0 && (
					<button type="button" class="small" aria-pressed={pinned} onClick={() => d.togglePin(loss)}>
						{pinned ? "Stays" : `Pin ${plural(loss.itemIds.length, "item")}`}
					</button>
				)}
			</span>
		</li>
	);
}
