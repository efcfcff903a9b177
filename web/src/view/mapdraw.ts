// Draws the map of the context on a canvas.

import type { Plan } from "../store/plan.ts";
import type { GroupTile, Tile } from "../lib/maplayout.ts";
import type { ContextItem } from "../wire/types.ts";

/** Palette has the colours of the page's style sheet. */
export interface Palette {
	of(name: string): string;
	font: string;
}

/** palette returns the colours of the page, by the names of its style sheet. */
export function palette(el: Element): Palette {
	const style = getComputedStyle(el);
	const known = new Map<string, string>();
	return {
		of(name) {
			const color = known.get(name) ?? style.getPropertyValue(`--${name}`);
			known.set(name, color);
			return color;
		},
		font: style.fontFamily,
	};
}

/** MapState is how the items of a map look. */
export interface MapState {
	colors: Palette;
	plan: Plan;
	selected: ReadonlySet<string>;
	/** highlighted has the items of suggestions that are pointed at or explained. */
	highlighted: ReadonlySet<string>;
	/** fits has the items that the search and the filter show, or null without them. */
	fits: ReadonlySet<string> | null;
	/** cached has the items to underline, or null. */
	cached: ReadonlySet<string> | null;
}

/** notSent, filtered: the opacity of items that are not in the next request, or that a filter hides. */
const notSent = 0.28;
const filtered = 0.12;

/** drawMap draws a map. */
export function drawMap(
	canvas: HTMLCanvasElement, size: { w: number; h: number },
	layout: { tiles: readonly Tile[]; groups: readonly GroupTile[] },
	items: readonly ContextItem[], state: MapState,
): void {
	const ratio = devicePixelRatio || 1;
	const [width, height] = [Math.round(size.w * ratio), Math.round(size.h * ratio)];
	if (canvas.width !== width || canvas.height !== height) { // a new size takes new memory
		canvas.width = width;
		canvas.height = height;
		canvas.style.width = `${size.w}px`;
		canvas.style.height = `${size.h}px`;
	}
	const c = canvas.getContext("2d")!;
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.clearRect(0, 0, size.w, size.h);
	fillTiles(c, layout.tiles, items, state);
	for (const tile of layout.tiles) markTile(c, tile, items[tile.index]!, state);
	if (state.highlighted.size > 0) {
		for (const tile of layout.tiles) if (state.highlighted.has(items[tile.index]!.id)) outline(c, tile, state.colors);
	}
	c.fillStyle = state.colors.of("text");
	c.font = `600 11px ${state.colors.font}`;
	c.textBaseline = "middle";
	for (const g of layout.groups) if (g.head > 0) label(c, g.label, g.x + 3, g.y + g.head / 2, g.w - 6);
}

/** fillTiles fills the tiles colour by colour, since each change of the colour costs time. */
function fillTiles(c: CanvasRenderingContext2D, tiles: readonly Tile[], items: readonly ContextItem[],
	s: MapState): void {
	const groups = new Map<string, { alpha: number; color: string; tiles: Tile[] }>();
	for (const tile of tiles) {
		const item = items[tile.index]!;
		const alpha = s.fits && !s.fits.has(item.id) ? filtered : item.inPrompt ? 1 : notSent;
		const key = `${item.category} ${alpha}`;
		const group = groups.get(key);
		if (group) group.tiles.push(tile);
		else groups.set(key, { alpha, color: s.colors.of(`c-${item.category}`), tiles: [tile] });
	}
	for (const group of groups.values()) {
		c.globalAlpha = group.alpha;
		c.fillStyle = group.color;
		for (const t of group.tiles) {
			const space = t.w > 4 && t.h > 4 ? 1 : 0;
			c.fillRect(t.x, t.y, Math.max(0.5, t.w - space), Math.max(0.5, t.h - space));
		}
	}
	c.globalAlpha = 1;
}

function markTile(c: CanvasRenderingContext2D, t: Tile, item: ContextItem, s: MapState): void {
	if (s.cached?.has(item.id)) {
		c.fillStyle = s.colors.of("text");
		c.fillRect(t.x, t.y + t.h - 2, t.w, 2);
	}
	if (item.pinned && t.w > 6 && t.h > 6) {
		c.fillStyle = s.colors.of("bg");
		c.fillRect(t.x + 2, t.y + 2, 4, 4);
	}
	const change = s.plan.get(item.id);
	if (change) hatch(c, t, s.colors.of("bg"));
	if (s.selected.has(item.id)) {
		c.strokeStyle = s.colors.of("text");
		c.lineWidth = 2;
		c.strokeRect(t.x + 1, t.y + 1, Math.max(1, t.w - 3), Math.max(1, t.h - 3));
	}
}

/** outline marks a tile by two lines, so that it is visible on each colour. It stays visible if the tile is small. */
function outline(c: CanvasRenderingContext2D, t: Tile, colors: Palette): void {
	const [w, h] = [Math.max(4, t.w), Math.max(4, t.h)];
	c.lineWidth = 2;
	c.strokeStyle = colors.of("warn");
	c.strokeRect(t.x + 1, t.y + 1, w - 3, h - 3);
	if (w < 12 || h < 12) return;
	c.strokeStyle = colors.of("bg");
	c.strokeRect(t.x + 3, t.y + 3, w - 7, h - 7);
}

/** hatch marks an item that the plan changes. */
function hatch(c: CanvasRenderingContext2D, t: Tile, color: string): void {
	c.save();
	c.beginPath();
	c.rect(t.x, t.y, t.w, t.h);
	c.clip();
	c.strokeStyle = color;
	c.lineWidth = 1.5;
	c.beginPath();
	for (let x = t.x - t.h; x < t.x + t.w; x += 5) {
		c.moveTo(x, t.y + t.h);
		c.lineTo(x + t.h, t.y);
	}
	c.stroke();
	c.restore();
}

function label(c: CanvasRenderingContext2D, text: string, x: number, y: number, width: number): void {
	let shown = text;
	while (shown !== "" && c.measureText(shown).width > width) shown = shown.length > 2 ? `${shown.slice(0, -2)}…` : "";
	c.fillText(shown, x, y);
}
