// The rows of the list of context items.

import { categoryName, lineOf, sentState } from "../wire/contextwords.ts";
import type { ContextRow, ItemRow as ListedItem } from "../store/contextrows.ts";
import type { Change } from "../store/plan.ts";
import { reasonNames } from "../store/suggestions.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { count, visible } from "../lib/format.ts";
import type { ContextItem } from "../wire/types.ts";
import { Snippet } from "./contextfind.tsx";
import { lazy } from "../lib/lazy.tsx";
import { RemovedHead, RemovedItem } from "./removed.tsx";
import type { Selection } from "./selection.ts";

const ItemDetails = lazy(() => import("./details.tsx").then((m) => m.ItemDetails));

interface RowProps {
	store: ThreadStore;
	s: Selection;
	first: boolean;
	onFocus(key: string, extend?: boolean): void;
}

/** Row is an item, a removed item, or the head of the items of a turn. */
export function Row({ row, ...p }: RowProps & { row: ContextRow }) {
	if (row.kind === "turn") return <TurnRow row={row} {...p} />;
	if (row.kind === "item") return <ItemRow row={row} {...p} />;
	const { store, s, first } = p;
	const focused = s.focus.value === row.key || (s.focus.value === null && first);
	const onFocus = (key: string) => (s.focus.value = key);
	return row.kind === "removedHead" ? <RemovedHead row={row} focused={focused} onFocus={onFocus} />
		: <RemovedItem row={row} store={store} focused={focused} open={s.open.value.has(row.match.id)} onFocus={onFocus}
			onToggle={(id) => s.toggleOpen(id)} />;
}

function TurnRow({ row, store, s, first }: RowProps & { row: Extract<ContextRow, { kind: "turn" }> }) {
	const planned = (i: ContextItem) => store.plan.changes.value.get(i.id)?.included;
	const choosable = row.items.filter((i) => planned(i) !== undefined || !isUnsendable(i));
	const included = choosable.filter((i) => planned(i) ?? i.included).length;
	const tokens = row.items.reduce((sum, i) => sum + (i.inPrompt ? i.tokens : 0), 0);
	const state = included === 0 ? "false" : included === choosable.length ? "true" : "mixed";
	const focused = s.focus.value === row.key || (s.focus.value === null && first);
	return (
		<div id={`c-${row.key}`} class="context-turn" role="row" aria-level={1} aria-expanded="true" tabIndex={focused ? 0 : -1}
			onFocus={() => (s.focus.value = row.key)}>
			<span role="gridcell" class="cell-check">
				<Check state={state} label={`Include turn ${row.number}`}
					onClick={() => void store.plan.change(choosable.map((i) => i.id), { included: state !== "true" })} />
			</span>
			<span role="gridcell" class="turn-name">{row.number > 0 ? `Turn ${row.number}` : "Turn"}</span>
			<span role="gridcell" class="tokens">{count(tokens)}</span>
		</div>
	);
}

/** isUnsendable reports whether the next request lacks an item although the user included it. */
const isUnsendable = (item: ContextItem): boolean => item.included && !item.inPrompt;

function ItemRow({ row, store, s, first, onFocus }: RowProps & { row: ListedItem }) {
	const { item, turn } = row;
	const change = store.plan.changes.value.get(item.id) ?? {};
	const included = change.included ?? item.included;
	const unsendable = change.included === undefined && isUnsendable(item);
	const state = sentState(item);
	const line = visible(lineOf(item));
	const open = s.open.value.has(item.id);
	const focused = s.focus.value === item.id || (s.focus.value === null && first);
	const selected = s.selected.value.has(item.id);
	const largest = store.context.largest.value;
	const match = s.find.found.value?.matches.get(item.id);
	const suggestion = store.suggestions.byItem.value.get(item.id);
	const classes = ["context-item", item.inPrompt ? "" : "off", selected ? "selected" : "",
		Object.keys(change).length > 0 ? "planned" : "", change.deleted ? "deleted" : "",
		store.suggestions.highlighted.value.has(item.id) ? "highlighted" : ""].join(" ");
	return (
		<div id={`c-${item.id}`} class={classes} role="row" aria-level={2} aria-selected={selected} aria-expanded={open}
			tabIndex={focused ? 0 : -1} onFocus={() => (s.focus.value = item.id)}
			onClick={(e) => onFocus(item.id, e.shiftKey)}>
			<span role="gridcell" class="cell-check">
				<Check state={included && !unsendable ? "true" : "false"}
					label={`${unsendable ? state : "Include"}: ${visible(item.preview)}`}
					locked={unsendable} onClick={() => void store.plan.change([item.id], { included: !included })} />
			</span>
			<span role="gridcell" class="cell-main">
				<span class={`category cat-${item.category}`}><i aria-hidden="true" />{categoryName(item.category)}
					{turn > 0 && <span class="faint"> turn {turn}</span>}</span>
				{match ? <Snippet match={match} /> : <span class="preview" title={line}>{item.longPreview
					? <><span class="short">{visible(item.preview)}</span><span class="long">{line}</span></> : line}</span>}
				<span class="badges">
					{Object.keys(change).length > 0 && <span class="badge plan">{planText(change)}</span>}
					{state && <span class="badge off">{state}</span>}
					{suggestion && item.included &&
						<span class="badge suggested" title={suggestion.text}>suggested: {reasonNames[suggestion.reason]}</span>}
					{item.replaced && <span class="badge edited">replaced</span>}
					{item.agentThreadId && <a class="badge agent-badge" tabIndex={-1} href={`#/thread/${item.agentThreadId}`}
						onClick={(e) => e.stopPropagation()}>open agent</a>}
					{item.note && <span class="badge edited" title={item.note}>note</span>}
					{item.pinned && change.pinned === undefined && <span class="badge pinned"><Icon name="pin" />pinned</span>}
				</span>
			</span>
			<span role="gridcell" class="cell-tokens">
				<span class="tokens">{count(item.tokens)}</span>
				<span class="tokenbar" aria-hidden="true"><i class={`cat-${item.category}`} style={{ width: `${(item.tokens / largest) * 100}%` }} /></span>
			</span>
			<span role="gridcell" class="cell-menu">
				<button type="button" class="quiet" tabIndex={-1} aria-label={open ? "Hide details" : "Show details"} onClick={() => s.toggleOpen(item.id)}>
					<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				</button>
			</span>
			{open && <div role="gridcell" class="cell-details" onClick={(e) => e.stopPropagation()}>
				<ItemDetails item={item} store={store} /></div>}
		</div>
	);
}

function planText(c: Change): string {
	const parts = [];
	if (c.deleted) parts.push("delete");
	if (c.included === true) parts.push("include");
	if (c.included === false) parts.push("exclude");
	if (c.pinned === true) parts.push("pin");
	if (c.pinned === false) parts.push("unpin");
	if (c.text !== undefined) parts.push("replace");
	return parts.join(", ");
}

interface CheckProps {
	state: "true" | "false" | "mixed";
	label: string;
	/** locked is set if a click has no effect. */
	locked?: boolean;
	onClick(): void;
}

function Check({ state, label, locked, onClick }: CheckProps) {
	return (
		<button type="button" class="check" role="checkbox" aria-checked={state} aria-label={label} aria-disabled={locked} tabIndex={-1}
			title={locked ? label : undefined} onClick={(e) => {
				e.stopPropagation();
				if (!locked) onClick();
			}}>
			{state === "true" ? <Icon name="check" /> : state === "mixed" ? <i class="dash" /> : null}
		</button>
	);
}
