// The items of the context as a list or as a map, with the search and the plan.

import { computed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { categoryName } from "../wire/contextwords.ts";
import {
	listOrders, removedKey, removedRows, rowsOf, turnNumbers, type ContextRow, type ListOrder,
} from "../store/contextrows.ts";
import { contextView, listOrder, sortList } from "../store/panels.ts";
import { reveal } from "../store/reveal.ts";
import type { ThreadStore } from "../store/thread.ts";
import { lazy } from "../lib/lazy.tsx";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { count, plural, short } from "../lib/format.ts";
import { ContextFindBar } from "./contextfind.tsx";
import { onContextKey } from "./contextkeys.ts";
import { Row } from "./contextrow.tsx";
import { Footer } from "./footer.tsx";
import type { Selection } from "./selection.ts";
import { Suggestions, SuggestionsToggle } from "./suggesttoggle.tsx";

const ContextMap = lazy(() => import("./map.tsx").then((m) => m.ContextMap));
const Arrangement = lazy(() => import("./map.tsx").then((m) => m.Arrangement));

/** ContextItems shows the items of the context. */
export function ContextItems({ store, s }: { store: ThreadStore; s: Selection }) {
	const handle = useRef<ListHandle>(null);
	const find = useRef<HTMLInputElement>(null);
	const turns = useMemo(() => computed(() => turnNumbers(store.context.items.value)), [store]);
	const rows = useMemo(() => computed(() =>
		[...rowsOf(s.find.items.value, turns.value, listOrder.value),
			...removedRows(s.find.removed.value, s.find.removedCount.value)]),
			[store]);
	const list = rows.value;
	const view = contextView.value;
	const focus = (key: string, extend = false) => {
		if (s.moveTo(list, key, extend) >= 0) reach(key);
	};
	const reach = (key: string) => {
		handle.current?.show(rows.peek().findIndex((r) => r.key === key));
		requestAnimationFrame(() => document.getElementById(`c-${key}`)?.focus({ preventScroll: true }));
	};
	const showInList = (id: string) => {
		contextView.value = "list";
		requestAnimationFrame(() => focus(id));
	};
	useReveal(s, list, handle, focus, showInList);
	return (
		<>
			<Chips store={store} s={s} />
			<ContextFindBar store={store} find={s.find} input={find} />
			<div class="segments views" role="group" aria-label="View">
				<button type="button" aria-pressed={view === "list"} onClick={() => (contextView.value = "list")}>List</button>
				<button type="button" aria-pressed={view === "map"} onClick={() => (contextView.value = "map")}>Map</button>
				{view === "list" ? <Order /> : <Arrangement />}
				<span class="spacer" />
				<SuggestionsToggle store={store} />
			</div>
			<Suggestions store={store} selection={s} />
			{!store.context.loaded.value ? <p class="hint">Loading…</p>
				: view === "map" ? <ContextMap store={store} s={s} turns={turns.value} showInList={showInList} />
				: list.length === 0 ? <NoRows store={store} s={s} />
				: <VirtualList rows={list} estimate={34} class="context-list" label="Context items" role="treegrid" rowRole="presentation"
					multiselectable handle={handle} focusedKey={s.focus.value}
					onKeyDown={(e) => onContextKey(e, { store, s, list, focus, reach, find: () => find.current?.focus() })}
					render={(row, index) => <Row row={row} store={store} s={s} first={index === 0} onFocus={focus} />} />}
			<Footer store={store} />
		</>
	);
}

/** Order sorts the list. */
function Order() {
	return (
		<select aria-label="Sort the list" title="Sort the list (O)" value={listOrder.value}
			onChange={(e) => sortList(e.currentTarget.value as ListOrder)}>
			{listOrders.map(([order, label]) => <option value={order}>{label}</option>)}
		</select>
	);
}

/** useReveal lets other views show an item, also one that is not in the list any more. */
function useReveal(
	s: Selection, list: readonly ContextRow[], handle: RefObject<ListHandle | null>, focus: (key: string) => void,
	showInList: (id: string) => void,
): void {
	const wanted = useRef<string | null>(null);
	useLayoutEffect(() => {
		reveal.context = (id) => {
			s.find.clear();
			showInList(id);
		};
		reveal.contextRow = (id) => {
			const index = list.findIndex((r) => r.key === id);
			if (index >= 0) handle.current?.show(index);
		};
		reveal.removed = (id, query) => {
			s.find.search(query);
			contextView.value = "list";
			wanted.current = id;
		};
		return () => {
			reveal.context = reveal.contextRow = reveal.removed = () => undefined;
		};
	});
	useEffect(() => {
		const id = wanted.current;
		if (id === null || !list.some((r) => r.key === removedKey(id))) return;
		wanted.current = null;
		s.open.value = new Set([...s.open.value, id]);
		focus(removedKey(id));
	}, [list]);
}

/** NoRows says why the list has no rows. */
function NoRows({ store, s }: { store: ThreadStore; s: Selection }) {
	if (store.context.items.value.length === 0 && !s.find.active) {
		return <p class="hint">{store.turns.current.value !== null ? "The context appears with the first item of the turn." : "The context is empty. It fills with the first turn."}</p>;
	}
	return (
		<div class="hint">
			<p>No item matches.</p>
			{s.find.query.value.trim() !== "" && !s.find.includeRemoved.value &&
				<button type="button" class="small" onClick={() => (s.find.includeRemoved.value = true)}>Search removed items, too</button>}
		</div>
	);
}

function Chips({ store, s }: { store: ThreadStore; s: Selection }) {
	const usage = store.context.usage.value;
	if (!usage) return null;
	return (
		<div class="chips" role="group" aria-label="Categories">
			{usage.byCategory.map((c) => (
				<button type="button" class={`chip cat-${c.category}`} aria-pressed={s.find.category.value === c.category}
					title={`${plural(c.count, "item")}, ${count(c.includedTokens)} of ${count(c.tokens)} tokens included`}
					onClick={() => (s.find.category.value = s.find.category.value === c.category ? null : c.category)}>
					<i aria-hidden="true" />{categoryName(c.category)} <b>{c.count}</b> <span class="faint">{short(c.includedTokens)}</span>
				</button>
			))}
		</div>
	);
}
