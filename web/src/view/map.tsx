// The map of the context: every item as a rectangle, as large as its price. Dragging selects items.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { categoryName, categoryWords, sentState } from "../wire/contextwords.ts";
import { mapOrder, type MapOrder } from "../store/panels.ts";
import type { ThreadStore } from "../store/thread.ts";
import { strip, treemap, type Group, type GroupTile, type Tile } from "../lib/maplayout.ts";
import { count, plural, visible } from "../lib/format.ts";
import { useLatest } from "../lib/latest.ts";
import type { ContextItem } from "../wire/types.ts";
import { drawMap, palette } from "./mapdraw.ts";
import type { Selection } from "./selection.ts";

const lineHeight = 22;

const orders: readonly [MapOrder, string][] = [
	["strip", "in the order of the request"], ["turn", "by turn"], ["category", "by category"], ["tool", "by tool"],
];

interface Layout {
	tiles: Tile[];
	groups: GroupTile[];
}

function groupsOf(items: readonly ContextItem[], by: MapOrder, turns: ReadonlyMap<string, number>): Group[] {
	const groups = new Map<string, Group>();
	items.forEach((item, i) => {
		const label = by === "category" ? categoryName(item.category)
			: by === "tool" ? item.toolName ?? "no tool"
			: item.turnId ? `Turn ${turns.get(item.turnId) ?? "?"}` : "Before turn 1";
		const group = groups.get(label);
		if (group) group.indices.push(i);
		else groups.set(label, { label, indices: [i] });
	});
	return [...groups.values()];
}

/** cachedItems returns the items that the provider read from its cache, by the report of the last request. */
function cachedItems(store: ThreadStore, items: readonly ContextItem[]): ReadonlySet<string> {
	const cached = store.turns.tokens.value?.last.cachedInputTokens ?? 0;
	const usage = store.context.usage.value;
	let sum = usage ? Math.max(0, usage.promptTokens - usage.includedTokens) : 0;
	const ids = new Set<string>();
	for (const i of items) {
		if (!i.inPrompt) continue;
		sum += i.tokens;
		if (sum > cached) break;
		ids.add(i.id);
	}
	return ids;
}

/** Arrangement chooses how the map arranges the items. */
export function Arrangement() {
	return (
		<select aria-label="Arrange the map" value={mapOrder.value}
			onChange={(e) => (mapOrder.value = e.currentTarget.value as MapOrder)}>
			{orders.map(([name, label]) => <option value={name}>{label}</option>)}
		</select>
	);
}

interface Props {
	store: ThreadStore;
	s: Selection;
	turns: ReadonlyMap<string, number>;
	showInList(id: string): void;
}

/** ContextMap shows every item as a rectangle. */
export function ContextMap({ store, s, turns, showInList }: Props) {
	const items = store.context.items.value;
	const box = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const { size, theme } = useBox(box);
	const [hovered, setHovered] = useState<number | null>(null);
	const layout = useMemo<Layout>(() => {
		const sizes = items.map((i) => i.tokens);
		return mapOrder.value === "strip" ? { tiles: strip(sizes, size.w, size.h, lineHeight), groups: [] }
			: treemap(sizes, groupsOf(items, mapOrder.value, turns), size.w, size.h);
	}, [items, mapOrder.value, size.w, size.h, turns]);
	const fits = useMemo(() => (s.find.active ? new Set(s.find.items.value.map((i) => i.id)) : null),
		[s.find.items.value, s.find.active]);
	const { value: plan } = store.plan.changes;
	const { value: selected } = s.selected;
	const { value: highlighted } = store.suggestions.highlighted;
	const tokens = store.turns.tokens.value;
	useLayoutEffect(() => {
		drawMap(canvas.current!, size, layout, items, {
			colors: palette(canvas.current!), plan, selected, highlighted, fits,
			cached: mapOrder.value === "strip" ? cachedItems(store, items) : null,
		});
	}, [layout, items, plan, selected, highlighted, fits, tokens, theme]);

	const select = useDrag(box, layout.tiles, (found, extend) => {
		const ids = [...new Set(found)].map((i) => items[i]!.id);
		s.selected.value = new Set(extend ? [...s.selected.value, ...ids] : ids);
	});
	return (
		<div class="map">
			<div class="map-box" ref={box} onPointerDown={select.start}
				onPointerMove={(e) => setHovered(tileAt(layout.tiles, e, box.current!))} onPointerLeave={() => setHovered(null)}
				onDblClick={(e) => {
					const index = tileAt(layout.tiles, e, box.current!);
					if (index !== null) showInList(items[index]!.id);
				}}>
				<canvas ref={canvas} role="img"
					aria-label={`Map of ${plural(items.length, "item")}, ${count(items.reduce((sum, i) => sum + i.tokens, 0))} tokens. The list has the same items.`} />
				{select.area && <div class="map-drag"
					style={{ left: `${select.area.x}px`, top: `${select.area.y}px`, width: `${select.area.w}px`,
						height: `${select.area.h}px` }} />}
			</div>
			<p class="map-note" aria-live="off">
				{hovered !== null && items[hovered] ? describe(items[hovered]!, turns) : legend(mapOrder.value)}</p>
			{selected.size > 0 && <Actions store={store} s={s} showInList={showInList} />}
		</div>
	);
}

/** useBox returns the size of an element, and a number that changes with the colours of the page. */
function useBox(box: { current: HTMLElement | null }) {
	const [size, setSize] = useState({ w: 0, h: 0 });
	const [theme, setTheme] = useState(0);
	useEffect(() => {
		const observer = new ResizeObserver(([e]) =>
			setSize({ w: Math.floor(e!.contentRect.width), h: Math.floor(e!.contentRect.height) }));
		observer.observe(box.current!);
		const media = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map((q) => matchMedia(q));
		const redraw = () => setTheme((n) => n + 1);
		for (const m of media) m.addEventListener("change", redraw);
		return () => {
			observer.disconnect();
			for (const m of media) m.removeEventListener("change", redraw);
		};
	}, []);
	return { size, theme };
}

function legend(by: MapOrder): string {
	return `Drag to select, double-click to show in the list.${by === "strip" ? " Underlined: read from the cache." : ""}`;
}

function describe(item: ContextItem, turns: ReadonlyMap<string, number>): string {
	const turn = item.turnId ? `turn ${turns.get(item.turnId) ?? "?"} · ` : "";
	const state = sentState(item);
	const facts = [categoryWords[item.category], `${count(item.tokens)} tokens`, state, visible(item.preview)];
	return turn + facts.filter(Boolean).join(" · ");
}

function Actions({ store, s, showInList }: { store: ThreadStore; s: Selection; showInList(id: string): void }) {
	const items = store.context.items.value.filter((i) => s.selected.value.has(i.id));
	const tokens = items.reduce((sum, i) => sum + (i.inPrompt ? i.tokens : 0), 0);
	const ids = items.map((i) => i.id);
	return (
		<div class="map-actions" role="group" aria-label="Selected items">
			<span><strong>{plural(items.length, "item")}</strong> <span class="faint">{count(tokens)} tokens sent</span></span>
			<span class="spacer" />
			<button type="button" onClick={() => void store.plan.change(ids, { included: false })}>Exclude</button>
			<button type="button" onClick={() => void store.plan.change(ids, { included: true })}>Include</button>
			<button type="button" onClick={() => void store.plan.change(ids, { pinned: true })}>Pin</button>
			<button type="button" onClick={() => void store.plan.change(ids, { deleted: true })}>Delete</button>
			<button type="button" onClick={() => ids[0] && showInList(ids[0])}>Show in the list</button>
			<button type="button" onClick={() => (s.selected.value = new Set())}>Clear</button>
		</div>
	);
}

function tileAt(tiles: readonly Tile[], e: MouseEvent, box: HTMLElement): number | null {
	const { left, top } = box.getBoundingClientRect();
	const [x, y] = [e.clientX - left, e.clientY - top];
	return tiles.find((t) => x >= t.x && x < t.x + t.w && y >= t.y && y < t.y + t.h)?.index ?? null;
}

interface Area {
	x: number;
	y: number;
	w: number;
	h: number;
}

/** useDrag selects the tiles that a rectangle touches. A click is a small rectangle. */
function useDrag(box: { current: HTMLElement | null }, tiles: readonly Tile[],
	done: (found: number[], extend: boolean) => void) {
	const [area, setArea] = useState<Area | null>(null);
	const latest = useLatest(tiles);
	const start = (down: PointerEvent) => {
		if (down.button !== 0) return;
		down.preventDefault();
		const { left, top } = box.current!.getBoundingClientRect();
		const between = (e: PointerEvent): Area => ({
			x: Math.min(down.clientX, e.clientX) - left, y: Math.min(down.clientY, e.clientY) - top,
			w: Math.abs(e.clientX - down.clientX), h: Math.abs(e.clientY - down.clientY),
		});
		const onMove = (e: PointerEvent) => setArea(between(e));
		const onUp = (e: PointerEvent) => {
			end();
			const a = between(e);
			done(latest.current.filter((t) => t.x <= a.x + a.w && t.x + t.w > a.x && t.y <= a.y + a.h && t.y + t.h > a.y)
				.map((t) => t.index),
				e.shiftKey || e.ctrlKey || e.metaKey);
		};
		const end = () => {
			setArea(null);
			removeEventListener("pointermove", onMove);
			removeEventListener("pointerup", onUp);
			removeEventListener("pointercancel", end);
		};
		addEventListener("pointermove", onMove);
		addEventListener("pointerup", onUp);
		addEventListener("pointercancel", end);
	};
	return { start, area };
}
