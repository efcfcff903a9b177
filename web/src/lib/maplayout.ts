// Where the items of the context are drawn on a map. Areas are proportional to prices.

/** Tile is a rectangle of an item, named by its index. An item of the strip can have several. */
export interface Tile {
	index: number;
	x: number;
	y: number;
	w: number;
	h: number;
}

/** Group is a part of a treemap, with the indices of its items. */
export interface Group {
	label: string;
	indices: number[];
}

/** GroupTile is the rectangle of a group. Its label is drawn in the first `head` pixels. */
export interface GroupTile {
	label: string;
	x: number;
	y: number;
	w: number;
	h: number;
	head: number;
}

const headHeight = 15;
const gap = 2;

/** strip keeps the order: items follow each other in lines, as words do. */
export function strip(sizes: readonly number[], width: number, height: number, lineHeight: number): Tile[] {
	const total = sizes.reduce((a, b) => a + b, 0);
	const lines = Math.max(1, Math.floor(height / lineHeight));
	if (total <= 0 || width <= 0) return [];
	const perPixel = total / (lines * width);
	const tiles: Tile[] = [];
	let at = 0; // in pixels, over all lines
	for (let index = 0; index < sizes.length; index++) {
		const end = at + sizes[index]! / perPixel;
		for (let from = at; from < end - 1e-6;) {
			const line = Math.min(lines - 1, Math.floor(from / width + 1e-9));
			const to = line === lines - 1 ? end : Math.min(end, (line + 1) * width);
			tiles.push({ index, x: from - line * width, y: line * lineHeight, w: to - from, h: lineHeight - gap });
			from = to;
		}
		at = end;
	}
	return tiles;
}

/** treemap draws groups side by side, and the items within them. */
export function treemap(
	sizes: readonly number[], groups: readonly Group[], width: number, height: number,
): { tiles: Tile[]; groups: GroupTile[] } {
	const sums = groups.map((g) => g.indices.reduce((sum, i) => sum + sizes[i]!, 0));
	const outer = squarify(sums, 0, 0, width, height);
	const tiles: Tile[] = [];
	const heads: GroupTile[] = [];
	for (const o of outer) {
		const g = groups[o.index]!;
		const head = o.h > 3 * headHeight && o.w > 40 ? headHeight : 0;
		heads.push({ label: g.label, x: o.x, y: o.y, w: o.w, h: o.h, head });
		const edge = Math.min(gap, o.w / 4, o.h / 4);
		const inner = squarify(g.indices.map((i) => sizes[i]!), o.x, o.y + head, o.w - edge, o.h - head - edge);
		for (const t of inner) tiles.push({ ...t, index: g.indices[t.index]! });
	}
	return { tiles, groups: heads };
}

/**
 * squarify fills a rectangle with tiles that are nearly square, the largest first (Bruls, Huizing and
 * van Wijk, 2000). Tiles without an area are left out.
 */
export function squarify(sizes: readonly number[], x: number, y: number, w: number, h: number): Tile[] {
	const order = sizes.map((_, i) => i).filter((i) => sizes[i]! > 0).sort((a, b) => sizes[b]! - sizes[a]!);
	let rest = order.reduce((sum, i) => sum + sizes[i]!, 0);
	const tiles: Tile[] = [];
	for (let at = 0; at < order.length && w > 0 && h > 0;) {
		const scale = (w * h) / rest;
		const side = Math.min(w, h);
		let end = at;
		let sum = 0;
		let worst = Infinity;
		const largest = sizes[order[at]!]! * scale;
		for (; end < order.length; end++) { // a line grows while its worst tile becomes squarer
			const area = sizes[order[end]!]! * scale;
			const next = sum + area;
			const ratio = Math.max((side * side * largest) / (next * next), (next * next) / (side * side * area));
			if (ratio > worst) break;
			worst = ratio;
			sum = next;
		}
		const thick = sum / side;
		for (let offset = 0; at < end; at++) {
			const size = sizes[order[at]!]!;
			const long = (size * scale) / thick;
			tiles.push(w >= h ? { index: order[at]!, x, y: y + offset, w: thick, h: long }
				: { index: order[at]!, x: x + offset, y, w: long, h: thick });
			offset += long;
			rest -= size;
		}
		if (w >= h) {
			x += thick;
			w -= thick;
		} else {
			y += thick;
			h -= thick;
		}
	}
	return tiles;
}
