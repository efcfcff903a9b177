// What the next requests can do without: a card for each suggestion, with its price and its reason.

import { useRef, useState } from "preact/hooks";
import {
	groupsOf, reasonNames, reasonTexts, riskTexts, type Answer, type Group,
} from "../store/suggestions.ts";
import type { ThreadStore } from "../store/thread.ts";
import { reveal } from "../store/reveal.ts";
import { count, percent, plural, visible } from "../lib/format.ts";
import type { ContextSuggestion } from "../wire/types.ts";
import { NetPrice } from "./footer.tsx";
import { Price } from "./price.tsx";
import { contextView } from "../store/panels.ts";
import type { Selection } from "./selection.ts";
import { Goal, refreshId } from "./suggestgoal.tsx";

/** The number of cards that are shown at first, and that each click on "Show more" adds. */
const firstCards = 10;
const moreCards = 20;

/** Suggestions is the section with the cards. */
export function Suggestions({ store, selection }: { store: ThreadStore; selection: Selection }) {
	const s = store.suggestions;
	const answer = s.answer.value;
	return (
		<section class="suggest" id="suggest" aria-label="Suggestions" aria-busy={s.loading.value}>
			<Goal store={store} />
			{s.failure.value !== "" && (
				<div class="suggest-failure" role="alert">
					<p class="error-text">The suggestions could not be read: {visible(s.failure.value)}</p>
					<button type="button" class="small" onClick={() => void s.refresh()}>Try again</button>
				</div>
			)}
			<div role="status">
				{s.refused.value.size > 0 && <p class="warn-text">The context changed in the meantime, so nothing was applied. The cards are new.</p>}
				{answer ? <Joint answer={answer} /> : s.loading.value && <p class="faint">Looking for items that the next requests can do without…</p>}
			</div>
			{answer && answer.suggestions.length > 0 && <Cards store={store} answer={answer} selection={selection} />}
		</section>
	);
}

/** Joint shows the price of all recommended suggestions together. */
function Joint({ answer }: { answer: Answer }) {
	const selected = answer.suggestions.filter((s) => s.selected).length;
	const size = answer.promptTokens === null ? "" : ` The next request has ${count(answer.promptTokens)} tokens.`;
	return (
		<>
			{answer.suggestions.length === 0
				? <p class="faint">There is nothing to suggest. Messages, pinned items and the last tool outputs always stay.{size}</p>
				: <p class="price">
					{selected === 0 ? "None of them pays back within the requests that are expected."
						: <>
							{selected} of {count(answer.suggestions.length)} recommended{selected > 1 ? " together" : ""}:{" "}
							<NetPrice price={answer.netPrice} promptTokens={answer.promptTokens} /></>}
				</p>}
			{answer.goalReached !== null && <p class={answer.goalReached ? "good-text" : "error-text"}>
				{answer.goalReached ? (selected === 0 ? "The goal is reached already." : "They reach the goal.")
					: answer.suggestions.length === 0 ? "The goal is not reached." : "All suggestions together do not reach the goal."}</p>}
		</>
	);
}

function Cards({ store, answer, selection }: { store: ThreadStore; answer: Answer; selection: Selection }) {
	const [limit, setLimit] = useState(firstCards);
	const box = useRef<HTMLUListElement>(null);
	const selected = answer.suggestions.filter((s) => s.selected);
	const groups = groupsOf(answer.suggestions);
	const rest = groups.length - limit;
	const more = () => {
		setLimit(limit + moreCards);
		// This button may be gone then.
		requestAnimationFrame(() => box.current?.children[limit]?.querySelector("button")?.focus());
	};
	return (
		<div class="suggest-cards scroll" tabIndex={0} role="group" aria-label="Cards, the best suggestion first">
			{selected.length > 1 && (
				<div class="suggest-actions">
					<Actions store={store} list={selected} label={`${plural(selected.length, "suggestion")}, recommended together`} />
				</div>
			)}
			<ul ref={box}>
				{groups.slice(0, limit).map((g) => (g.list.length === 1
					? <Card key={g.list[0]!.id} store={store} card={g.list[0]!} selection={selection} joint={selected.length > 1} />
					: <GroupCard key={g.reason} store={store} group={g} selection={selection} joint={selected.length > 1} />))}</ul>
			{rest > 0 && (
				<div class="suggest-actions">
					<button type="button" class="small" onClick={more}>Show {Math.min(rest, moreCards)} more</button>
					<span class="faint">{count(limit)} of {count(groups.length)} are shown, the best ones first.</span>
				</div>
			)}
		</div>
	);
}

/** Actions are the buttons that apply or plan some suggestions. The label names them in the buttons. */
function Actions({ store, list, label, describedBy }: {
	store: ThreadStore; list: readonly ContextSuggestion[]; label?: string; describedBy?: string;
}) {
	const s = store.suggestions;
	const apply = (e: Event) => {
		const button = e.currentTarget as HTMLElement;
		void s.apply(list).then(() => requestAnimationFrame(() => // the button of an applied card is gone then
			(button.isConnected ? button : document.getElementById(refreshId))?.focus()));
	};
	const name = label ? ` ${label}` : "";
	return (
		<>
			<button type="button" class="small primary" disabled={s.applying.value} aria-describedby={describedBy} onClick={apply}>Apply{name}</button>
			<button type="button" class="small" aria-describedby={describedBy} title="Add to the plan"
				onClick={() => store.plan.add(list.flatMap((x) => x.itemIds), { included: false })}>Plan{name}</button>
		</>
	);
}

interface CardProps {
	store: ThreadStore;
	card: ContextSuggestion;
	selection: Selection;
	/** joint is set if several suggestions are recommended: they pay together. */
	joint: boolean;
}

/** The number of suggestions of a group that are shown at first, and that each click on "Show more" adds. */
const firstOfGroup = 10;

/** GroupCard shows the suggestions with one reason as one card. Each of them is a card below on demand. */
function GroupCard({ store, group: { reason, list }, selection, joint }: {
	store: ThreadStore; group: Group; selection: Selection; joint: boolean;
}) {
	const [open, setOpen] = useState(false);
	const [limit, setLimit] = useState(firstOfGroup);
	const each = useRef<HTMLUListElement>(null);
	const more = () => {
		setLimit(limit + moreCards);
		// This button may be gone then.
		requestAnimationFrame(() => each.current?.children[limit]?.querySelector("button")?.focus());
	};
	const items = list.flatMap((s) => s.itemIds);
	const chosen = list.filter((s) => s.selected).length;
	const mark = (on: boolean) => store.mark(on ? items : []);
	const textId = `suggest-group-${reason}`;
	return (
		<li class="suggest-card group" onPointerEnter={() => mark(true)} onPointerLeave={() => mark(false)}>
			<p id={textId} class="suggest-text"><strong>{plural(list.length, "suggestion")}: {reasonNames[reason]}</strong> {reasonTexts[reason]}</p>
			<div class="suggest-facts">
				<span>{plural(items.length, "item")}</span>
				<Price store={store} change={{ edits: list.flatMap((s) => s.edits) }} />
				{chosen > 0 && <span class="badge edited">{chosen === list.length ? "" : `${chosen} of ${list.length} `}{joint ? "recommended together" : "recommended"}</span>}
			</div>
			<div class="suggest-actions">
				<Actions store={store} list={list} label={`all ${list.length}`} describedBy={textId} />
				<button type="button" class="small quiet" aria-expanded={open} aria-describedby={textId} onClick={() => setOpen(!open)}>
					{open ? "Hide each" : "Show each"}</button>
			</div>
			{open && (
				<>
					<ul ref={each} class="suggest-each">{list.slice(0, limit).map((card) =>
						<Card key={card.id} store={store} card={card} selection={selection} joint={joint} />)}</ul>
					{list.length > limit && <button type="button" class="small" onClick={more}>
						Show {Math.min(list.length - limit, moreCards)} more</button>}
				</>
			)}
		</li>
	);
}

function Card({ store, card, selection, joint }: CardProps) {
	const s = store.suggestions;
	const explained = s.explained.value.has(card.id);
	const point = (on: boolean) => {
		s.pointed.value = on ? card.id : null;
		store.mark(on ? card.itemIds : []);
	};
	const why = () => {
		s.toggleReason(card.id);
		// The list is smaller then.
		if (!explained) requestAnimationFrame(() => requestAnimationFrame(() => reveal.contextRow(card.itemIds[0]!)));
	};
	const textId = `suggest-${card.id}`;
	return (
		<li class="suggest-card" onPointerEnter={() => point(true)} onPointerLeave={() => point(false)}
			onFocusIn={() => point(true)} onFocusOut={() => point(false)}>
			<p id={textId} class="suggest-text"><Text text={card.text} /></p>
			{s.refused.value.has(card.id) && <p class="warn-text">It was not applied: the context had changed. Check it and apply it again.</p>}
			<p class="suggest-facts">
				<span>{plural(card.itemIds.length, "item")} · <NetPrice price={card.netPrice} promptTokens={null} /></span>
				<span class={`badge risk-${card.risk}`} title={riskTexts[card.risk]}>{card.risk} risk</span>
				{card.selected && <span class="badge edited">{joint ? "recommended together" : "recommended"}</span>}
			</p>
			<div class="suggest-actions">
				<Actions store={store} list={[card]} describedBy={textId} />
				<button type="button" class="small quiet" aria-expanded={explained} aria-describedby={textId} onClick={why}>Why</button>
			</div>
			{explained && <Why store={store} card={card} selection={selection} joint={joint} />}
		</li>
	);
}

/** Text shows a text with commands and paths between backticks. */
function Text({ text }: { text: string }) {
	return <>{visible(text).split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

function Why({ store, card, selection }: CardProps) {
	const { tokensSaved, tokensLeavingCache, requestsToPayBack, cachedPriceRatio } = card.netPrice;
	const expected = store.suggestions.answer.value?.expectedRequests ?? null;
	const ids = new Set(card.itemIds);
	return (
		<div class="suggest-why">
			<p>{reasonTexts[card.reason]} {riskTexts[card.risk]}</p>
			<Whereabouts card={card} selection={selection} />
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

/** Whereabouts says where the items of a card are, if the list does not show them. */
function Whereabouts({ card, selection }: Pick<CardProps, "card" | "selection">) {
	const { find } = selection;
	const shown = new Set(find.active ? find.items.value.map((i) => i.id) : card.itemIds);
	const hidden = card.itemIds.filter((id) => !shown.has(id)).length;
	const show = () => {
		find.clear();
		// The rows are rendered then.
		requestAnimationFrame(() => requestAnimationFrame(() => reveal.contextRow(card.itemIds[0]!)));
	};
	if (hidden > 0) {
		return (
			<p class="suggest-where warn-text">
				<span>The search or the category hides {hidden === card.itemIds.length ? plural(hidden, "item") : `${hidden} of ${plural(card.itemIds.length, "item")}`}.</span>
				<button type="button" class="small" onClick={show}>Show all items</button>
			</p>
		);
	}
	if (contextView.value === "map") {
		return (
			<p class="suggest-where">
				<span class="faint">The map outlines {card.itemIds.length === 1 ? "the item" : "the items"}.</span>
				<button type="button" class="small" onClick={() => reveal.context(card.itemIds[0]!)}>Show in the list</button>
			</p>
		);
	}
	return null;
}
