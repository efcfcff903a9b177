// The context panel: what the next request has, with prices, and edits of it.

import { computed, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { categoryNames, reasons, type Change } from "../store/context.ts";
import { reasonNames } from "../store/suggestions.ts";
import type { ThreadStore } from "../store/thread.ts";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { Icon } from "../lib/icons.tsx";
import { count, plural, short } from "../lib/format.ts";
import type { ContextItem } from "../wire/types.ts";
import { Bar } from "./gauge.tsx";
import { ContextFindBar, Snippet } from "./contextfind.tsx";
import { ItemDetails } from "./details.tsx";
import { openDialog } from "./dialogs.tsx";
import { Footer } from "./footer.tsx";
import { History } from "./history.tsx";
import { Menu } from "./menu.tsx";
import { Arrangement, ContextMap } from "./map.tsx";
import { contextView, panelTab } from "./panels.ts";
import { openPrompts } from "./prompts.tsx";
import { removedKey, RemovedHead, RemovedItem, removedRows, type RemovedRow } from "./removed.tsx";
import { Selection } from "./selection.ts";
import { Suggestions, SuggestionsToggle } from "./suggestions.tsx";
import { reveal } from "../store/reveal.ts";

/** ContextRow is an item, or the head of the items of one turn. */
export type ContextRow =
	| { key: string; kind: "turn"; turnId: string; number: number; items: ContextItem[] }
	| { key: string; kind: "item"; item: ContextItem }
	| RemovedRow;

/** rowsOf groups items by turn. Items without a turn come before the next turn's head. */
export function rowsOf(items: readonly ContextItem[], turnNumbers: ReadonlyMap<string, number>): ContextRow[] {
	const rows: ContextRow[] = [];
	type Head = Extract<ContextRow, { kind: "turn" }>;
	let head = null as Head | null;
	for (const item of items) {
		if (item.turnId && item.turnId !== head?.turnId) {
			head = { key: `turn:${item.turnId}:${item.id}`, kind: "turn", turnId: item.turnId, number: turnNumbers.get(item.turnId) ?? 0, items: [] };
			rows.push(head);
		}
		if (item.turnId && head) head.items.push(item);
		rows.push({ key: item.id, kind: "item", item });
	}
	return rows;
}

export function ContextPanel({ store }: { store: ThreadStore }) {
	const tab = panelTab.value;
	const selection = useMemo(() => new Selection(store), []);
	useEffect(() => selection.find.start(), []);
	return (
		<>
			<div class="panel-head">
				<Bar store={store} />
				<button class="quiet" type="button" aria-label="Undo the last edit" title="Undo (Ctrl+Z)"
					onClick={() => void store.undo()}><Icon name="undo" /></button>
				<button class="quiet" type="button" aria-label="Redo" title="Redo (Ctrl+Y)"
					onClick={() => void store.redo()}><Icon name="redo" /></button>
				<Menu label="Edit the context" entries={[
					{ label: "Trim to the last turns…", icon: "scissors", run: () => openDialog({ kind: "trim", store }) },
					{ label: "Compact…", icon: "compress", run: () => openDialog({ kind: "compact", store }) },
					{ label: "Exclude a category…", icon: "eyeOff", run: () => openDialog({ kind: "prune", store }) },
					{ label: "Show prompts…", icon: "eye", run: () => openPrompts(store) },
					{ label: "Restore everything…", icon: "undo", run: () => openDialog({ kind: "restore", store }) },
				]} />
			</div>
			{tab === "list" ? <List store={store} s={selection} /> : <History store={store} />}
		</>
	);
}

function List({ store, s }: { store: ThreadStore; s: Selection }) {
	const handle = useRef<ListHandle>(null);
	const find = useRef<HTMLInputElement>(null);
	const turns = useMemo(() => computed(() => {
		const numbers = new Map<string, number>();
		for (const i of store.context.items.value) if (i.turnId && !numbers.has(i.turnId)) numbers.set(i.turnId, numbers.size + 1);
		return numbers;
	}), [store]);
	const rows = useMemo(() => computed(() =>
		[...rowsOf(s.find.items.value, turns.value), ...removedRows(s.find.removed.value, s.find.removedCount.value)]), [store]);
	const list = rows.value;
	const view = contextView.value;

	const focus = (key: string, extend = false) => {
		const index = list.findIndex((r) => r.key === key);
		if (index < 0) return;
		s.focus.value = key;
		if (!extend) {
			s.anchor.value = key;
			s.selected.value = new Set();
		} else {
			const from = list.findIndex((r) => r.key === s.anchor.value);
			const [a, b] = from < index ? [from, index] : [index, from];
			s.selected.value = new Set(list.slice(Math.max(0, a), b + 1).flatMap((r) => (r.kind === "item" ? [r.item.id] : [])));
		}
		handle.current?.show(index);
		requestAnimationFrame(() => document.getElementById(`c-${key}`)?.focus({ preventScroll: true }));
	};
	const showInList = (id: string) => {
		contextView.value = "list";
		requestAnimationFrame(() => focus(id));
	};
	reveal.context = (id) => {
		s.find.clear();
		contextView.value = "list";
		requestAnimationFrame(() => focus(id));
	};
	reveal.contextRow = (id) => {
		const index = list.findIndex((r) => r.key === id);
		if (index >= 0) handle.current?.show(index);
	};
	const wanted = useRef<string | null>(null);
	reveal.removed = (id, query) => {
		s.find.search(query);
		contextView.value = "list";
		wanted.current = id;
	};
	useEffect(() => {
		const id = wanted.current;
		if (id === null || !list.some((r) => r.key === removedKey(id))) return;
		wanted.current = null;
		s.open.value = new Set([...s.open.value, id]);
		focus(removedKey(id));
	}, [list]);
	useEffect(() => () => {
		reveal.context = reveal.contextRow = reveal.removed = () => undefined;
	}, []);

	const targets = (): string[] => {
		if (s.selected.value.size > 0) return [...s.selected.value];
		const row = list.find((r) => r.key === s.focus.value);
		return row?.kind === "item" ? [row.item.id] : row?.kind === "turn" ? row.items.map((i) => i.id) : [];
	};
	const onKeyDown = (e: KeyboardEvent) => {
		const target = e.target as HTMLElement;
		if (target.closest("textarea,input,pre,[role=menu]")) return;
		if ((e.ctrlKey || e.metaKey) && e.key === "Enter") {
			e.preventDefault();
			void store.applyPlan();
			return;
		}
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const at = list.findIndex((r) => r.key === s.focus.value);
		const to = (i: number) => list[Math.max(0, Math.min(list.length - 1, i))]?.key;
		const turn = (by: number) => {
			for (let i = at + by; i >= 0 && i < list.length; i += by) if (list[i]!.kind === "turn" || list[i]!.kind === "removedHead") return list[i]!.key;
			return undefined;
		};
		const moves: Record<string, () => string | undefined> = {
			ArrowDown: () => to(at + 1), ArrowUp: () => to(at - 1), Home: () => to(0), End: () => to(list.length - 1),
			PageDown: () => to(at + 15), PageUp: () => to(at - 15), j: () => turn(1), k: () => turn(-1),
		};
		const move = moves[e.key];
		if (move) {
			e.preventDefault();
			const key = move();
			if (key) focus(key, e.shiftKey && e.key.startsWith("Arrow"));
			return;
		}
		const ids = targets();
		const wanted = new Set(ids);
		const items = store.context.items.value.filter((i) => wanted.has(i.id));
		const planned = (i: ContextItem): Change => store.plan.value.get(i.id) ?? {};
		const actions: Record<string, () => void> = {
			" ": () => void store.change(ids, { included: !items.some((i) => planned(i).included ?? i.included) }),
			Delete: () => void store.change(ids, { deleted: !items.every((i) => planned(i).deleted) }),
			p: () => void store.change(ids, { pinned: !items.every((i) => planned(i).pinned ?? i.pinned) }),
			r: () => items.length === 1 && replaceable(items[0]!) && openDialog({ kind: "replace", store, item: items[0]! }),
			Enter: () => {
				const row = list[at];
				if (row?.kind === "removed") toggleOpen(s.open, row.match.id);
				else if (items.length === 1) toggleOpen(s.open, items[0]!.id);
			},
			Backspace: () => store.discard(),
			"/": () => find.current?.focus(),
		};
		const run = actions[e.key];
		if (!run || (target.closest("button") && (e.key === "Enter" || e.key === " ") && !target.id.startsWith("c-"))) return;
		e.preventDefault();
		run();
	};

	return (
		<>
			<Chips store={store} s={s} />
			<ContextFindBar store={store} find={s.find} input={find} />
			<div class="segments views" role="group" aria-label="View">
				<button type="button" aria-pressed={view === "list"} onClick={() => (contextView.value = "list")}>List</button>
				<button type="button" aria-pressed={view === "map"} onClick={() => (contextView.value = "map")}>Map</button>
				<span class="spacer" />
				<SuggestionsToggle store={store} />
				{view === "map" && <Arrangement />}
			</div>
			<Suggestions store={store} selection={s} />
			{!store.context.loaded.value ? <p class="hint">Loading…</p>
				: view === "map" ? <ContextMap store={store} s={s} turns={turns.value} showInList={showInList} />
				: list.length === 0 ? <NoRows store={store} s={s} />
				: <VirtualList rows={list} estimate={34} class="context-list" label="Context items" role="treegrid" rowRole="presentation"
					multiselectable handle={handle} focusedKey={s.focus.value} onKeyDown={onKeyDown}
					render={(row, index) => <Row row={row} store={store} s={s} first={index === 0} onFocus={focus} />} />}
			<Footer store={store} />
		</>
	);
}

interface RowProps {
	store: ThreadStore;
	s: Selection;
	first: boolean;
	onFocus(key: string, extend?: boolean): void;
}

function Row({ row, ...p }: RowProps & { row: ContextRow }) {
	if (row.kind === "turn") return <TurnRow row={row} {...p} />;
	if (row.kind === "item") return <ItemRow item={row.item} {...p} />;
	const { store, s, first } = p;
	const focused = s.focus.value === row.key || (s.focus.value === null && first);
	const onFocus = (key: string) => (s.focus.value = key);
	return row.kind === "removedHead" ? <RemovedHead row={row} focused={focused} onFocus={onFocus} />
		: <RemovedItem row={row} store={store} focused={focused} open={s.open.value.has(row.match.id)} onFocus={onFocus}
			onToggle={(id) => toggleOpen(s.open, id)} />;
}

/** NoRows says why the list has no rows. */
function NoRows({ store, s }: { store: ThreadStore; s: Selection }) {
	if (store.context.items.value.length === 0 && !s.find.active) {
		return <p class="hint">{store.turn.value !== null ? "The context appears when the turn ends." : "The context is empty. It fills with the first turn."}</p>;
	}
	return (
		<div class="hint">
			<p>No item matches.</p>
			{s.find.query.value.trim() !== "" && !s.find.includeRemoved.value &&
				<button type="button" class="small" onClick={() => (s.find.includeRemoved.value = true)}>Search removed items, too</button>}
		</div>
	);
}

function toggleOpen(open: Signal<ReadonlySet<string>>, id: string): void {
	const next = new Set(open.value);
	if (!next.delete(id)) next.add(id);
	open.value = next;
}

/** replaceable reports whether the server can replace the text of an item. */
export function replaceable(item: ContextItem): boolean {
	return item.category === "toolOutput" || item.category === "reasoning";
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
					<i aria-hidden="true" />{categoryNames[c.category]} <b>{c.count}</b> <span class="faint">{short(c.includedTokens)}</span>
				</button>
			))}
		</div>
	);
}

function TurnRow({ row, store, s, first }: RowProps & { row: Extract<ContextRow, { kind: "turn" }> }) {
	const included = row.items.filter((i) => store.plan.value.get(i.id)?.included ?? i.included).length;
	const tokens = row.items.reduce((sum, i) => sum + (i.inPrompt ? i.tokens : 0), 0);
	const state = included === 0 ? "false" : included === row.items.length ? "true" : "mixed";
	const focused = s.focus.value === row.key || (s.focus.value === null && first);
	return (
		<div id={`c-${row.key}`} class="context-turn" role="row" aria-level={1} aria-expanded="true" tabIndex={focused ? 0 : -1}
			onFocus={() => (s.focus.value = row.key)}>
			<span role="gridcell" class="cell-check">
				<Check state={state} label={`Include turn ${row.number}`} onClick={() => void store.change(row.items.map((i) => i.id), { included: state !== "true" })} />
			</span>
			<span role="gridcell" class="turn-name">{row.number > 0 ? `Turn ${row.number}` : "Turn"}</span>
			<span role="gridcell" class="tokens">{count(tokens)}</span>
		</div>
	);
}

function ItemRow({ item, store, s, first, onFocus }: RowProps & { item: ContextItem }) {
	const change = store.plan.value.get(item.id) ?? {};
	const included = change.included ?? item.included;
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
				<Check state={included ? "true" : "false"} label={`Include: ${item.preview}`} onClick={() => void store.change([item.id], { included: !included })} />
			</span>
			<span role="gridcell" class="cell-main">
				<span class={`category cat-${item.category}`}><i aria-hidden="true" />{item.toolName ?? categoryNames[item.category]}</span>
				{match ? <Snippet match={match} /> : <span class="preview">{previewOf(item)}</span>}
				<span class="badges">
					{Object.keys(change).length > 0 && <span class="badge plan">{planText(change)}</span>}
					{!item.inPrompt && <span class="badge off" title={reasons[item.notSentReason ?? "excluded"]}>{item.included ? "not sent" : "excluded"}</span>}
					{suggestion && item.included && <span class="badge suggested" title={suggestion.text}>suggested: {reasonNames[suggestion.reason]}</span>}
					{item.replaced && <span class="badge edited">replaced</span>}
					{item.note && <span class="badge edited" title={item.note}>note</span>}
					{item.pinned && change.pinned === undefined && <span class="badge pinned"><Icon name="pin" />pinned</span>}
				</span>
			</span>
			<span role="gridcell" class="cell-tokens">
				<span class="tokens">{count(item.tokens)}</span>
				<span class="tokenbar" aria-hidden="true"><i class={`cat-${item.category}`} style={{ width: `${(item.tokens / largest) * 100}%` }} /></span>
			</span>
			<span role="gridcell" class="cell-menu">
				<button type="button" class="quiet" tabIndex={-1} aria-label={open ? "Hide details" : "Show details"} onClick={() => toggleOpen(s.open, item.id)}>
					<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				</button>
			</span>
			{open && <div role="gridcell" class="cell-details" onClick={(e) => e.stopPropagation()}><ItemDetails item={item} store={store} /></div>}
		</div>
	);
}

/** previewOf returns the preview of an item without the name of its tool, which has its own place. */
function previewOf(item: ContextItem): string {
	const prefix = `${item.toolName} `;
	return item.toolName && item.preview.startsWith(prefix) ? item.preview.slice(prefix.length) : item.preview;
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

function Check({ state, label, onClick }: { state: "true" | "false" | "mixed"; label: string; onClick(): void }) {
	return (
		<button type="button" class="check" role="checkbox" aria-checked={state} aria-label={label} tabIndex={-1}
			onClick={(e) => {
				e.stopPropagation();
				onClick();
			}}>
			{state === "true" ? <Icon name="check" /> : state === "mixed" ? <i class="dash" /> : null}
		</button>
	);
}
