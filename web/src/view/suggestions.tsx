// What the next requests can do without: a card for each suggestion, with its price and its reason.

import { reasonTexts, riskTexts, type Answer } from "../store/suggestions.ts";
import type { ThreadStore } from "../store/thread.ts";
import { reveal } from "../store/reveal.ts";
import { Icon } from "../lib/icons.tsx";
import { count, percent, plural, visible } from "../lib/format.ts";
import type { ContextSuggestion } from "../wire/types.ts";
import { NetPrice } from "./footer.tsx";

const refreshId = "suggest-refresh";

/** SuggestionsToggle opens and closes the section, and shows how many suggestions are known. */
export function SuggestionsToggle({ store }: { store: ThreadStore }) {
	const s = store.suggestions;
	const known = s.answer.value?.suggestions.length ?? 0;
	return (
		<button type="button" class="suggest-toggle" aria-expanded={s.open.value} aria-controls="suggest" onClick={() => s.toggle()}>
			<span class={`chevron ${s.open.value ? "open" : ""}`}><Icon name="chevron" /></span>Suggestions{known > 0 && <span class="badge edited">{known}<span class="visually-hidden"> found</span></span>}
		</button>
	);
}

export function Suggestions({ store }: { store: ThreadStore }) {
	const s = store.suggestions;
	if (!s.open.value) return <section id="suggest" hidden />;
	const answer = s.answer.value;
	return (
		<section class="suggest" id="suggest" aria-label="Suggestions">
			<form class="suggest-head" onSubmit={(e) => {
				e.preventDefault();
				void s.refresh();
			}}>
				<label class="suggest-goal">Goal
					<input type="number" min={1} max={100} placeholder="none" value={s.goalPercent.value ?? ""}
						onInput={(e) => (s.goalPercent.value = Number.isFinite(e.currentTarget.valueAsNumber) ? e.currentTarget.valueAsNumber : null)} />
					<span>% fewer tokens</span>
				</label>
				<span class="spacer" />
				<button type="submit" class="small" id={refreshId}>Refresh</button>
			</form>
			{s.failure.value !== "" && <p class="error-text" role="alert">{visible(s.failure.value)}</p>}
			<div role="status">{answer ? <Joint answer={answer} /> : s.loading.value && <p class="faint">Searching…</p>}</div>
			{answer && answer.suggestions.length > 0 && <Cards store={store} answer={answer} />}
		</section>
	);
}

/** Joint shows the price of all recommended suggestions together. */
function Joint({ answer }: { answer: Answer }) {
	const selected = answer.suggestions.filter((s) => s.selected).length;
	if (answer.suggestions.length === 0) return <p class="faint">There is nothing to suggest. The last outputs always stay.</p>;
	return (
		<>
			<p class="price">
				{selected === 0 ? "None of them pays back within the requests that are expected."
					: <>{selected} of {count(answer.suggestions.length)} recommended: <NetPrice price={answer.netPrice} promptTokens={answer.promptTokens} /></>}
			</p>
			{answer.goalReached !== null && <p class={answer.goalReached ? "good-text" : "error-text"}>
				{answer.goalReached ? "They reach the goal." : "All suggestions together do not reach the goal."}</p>}
		</>
	);
}

function Cards({ store, answer }: { store: ThreadStore; answer: Answer }) {
	const selected = answer.suggestions.filter((s) => s.selected);
	return (
		<div class="suggest-cards scroll" tabIndex={0} role="group" aria-label="Cards, the best suggestion first">
			{selected.length > 1 && (
				<div class="suggest-actions">
					<Actions store={store} list={selected} label={`${plural(selected.length, "suggestion")}`} />
				</div>
			)}
			<ul>{answer.suggestions.map((card) => <Card key={card.id} store={store} card={card} />)}</ul>
		</div>
	);
}

/** Actions are the buttons that apply or plan some suggestions. The label names them in the buttons. */
function Actions({ store, list, label, describedBy }: {
	store: ThreadStore; list: readonly ContextSuggestion[]; label?: string; describedBy?: string;
}) {
	const s = store.suggestions;
	const apply = () => void s.apply(list).then(() => document.getElementById(refreshId)?.focus()); // the button is gone then
	const name = label ? ` ${label}` : "";
	return (
		<>
			<button type="button" class="small primary" disabled={s.applying.value} aria-describedby={describedBy} onClick={apply}>Apply{name}</button>
			<button type="button" class="small" aria-describedby={describedBy} title="Add to the plan"
				onClick={() => store.addToPlan(list.flatMap((x) => x.itemIds), { included: false })}>Plan{name}</button>
		</>
	);
}

function Card({ store, card }: { store: ThreadStore; card: ContextSuggestion }) {
	const s = store.suggestions;
	const explained = s.explained.value.has(card.id);
	const point = (on: boolean) => {
		s.pointed.value = on ? card.id : null;
		const ids = new Set(on ? card.itemIds : []);
		store.marked.value = new Set(store.context.items.value.flatMap((i) => (i.itemId && ids.has(i.id) ? [i.itemId] : [])));
	};
	const why = () => {
		s.toggleReason(card.id);
		if (!explained) requestAnimationFrame(() => requestAnimationFrame(() => reveal.contextRow(card.itemIds[0]!))); // the list is smaller then
	};
	const textId = `suggest-${card.id}`;
	return (
		<li class="suggest-card" onPointerEnter={() => point(true)} onPointerLeave={() => point(false)}
			onFocusIn={() => point(true)} onFocusOut={() => point(false)}>
			<p id={textId} class="suggest-text"><Text text={card.text} /></p>
			<p class="suggest-facts">
				<span>{plural(card.itemIds.length, "item")} · <NetPrice price={card.netPrice} promptTokens={null} /></span>
				<span class={`badge risk-${card.risk}`} title={riskTexts[card.risk]}>{card.risk} risk</span>
				{card.selected && <span class="badge edited">recommended</span>}
			</p>
			<div class="suggest-actions">
				<Actions store={store} list={[card]} describedBy={textId} />
				<button type="button" class="small quiet" aria-expanded={explained} aria-describedby={textId} onClick={why}>Why</button>
			</div>
			{explained && <Why store={store} card={card} />}
		</li>
	);
}

/** Text shows a text with commands and paths between backticks. */
function Text({ text }: { text: string }) {
	return <>{visible(text).split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

function Why({ store, card }: { store: ThreadStore; card: ContextSuggestion }) {
	const { tokensSaved, tokensLeavingCache, requestsToPayBack, cachedPriceRatio } = card.netPrice;
	const expected = store.suggestions.answer.value?.expectedRequests ?? null;
	const ids = new Set(card.itemIds);
	return (
		<div class="suggest-why">
			<p>{reasonTexts[card.reason]} {riskTexts[card.risk]}</p>
			<dl>
				<dt>Saved in each request</dt><dd>{plural(tokensSaved, "token")}</dd>
				<dt>Leaving the cache once</dt><dd>{plural(tokensLeavingCache, "token")}</dd>
				<dt>Price of a cached token</dt><dd>{percent(cachedPriceRatio)} of another one</dd>
				<dt>Pays back after</dt><dd>{tokensLeavingCache === 0 ? "0 requests" : requestsToPayBack === null ? "never" : plural(requestsToPayBack, "request")}</dd>
				{expected !== null && <><dt>Expected requests</dt><dd>about {count(expected)}</dd></>}
			</dl>
			<ul>
				{store.context.items.value.filter((i) => ids.has(i.id)).map((i) => (
					<li key={i.id}>
						<button type="button" class="small quiet" title="Show in the list" onClick={() => reveal.context(i.id)}>
							<span class="ellipsis">{visible(i.preview)}</span><span class="tokens">{count(i.tokens)}</span>
						</button>
					</li>
				))}
			</ul>
		</div>
	);
}
