// The heights of the rows of a long list.

import { Fenwick } from "./fenwick.ts";

/** overscan is the height, in pixels, that is mounted above and below the viewport. */
export const overscan = 400;

/** Row is a row with a name that stays when rows are added before it. */
export interface Row {
	key: string;
}

/**
 * Anchor is a row that keeps its place. offset is the height of the list before the viewport, without the rows before
 * this one.
 */
interface Anchor {
	key: string;
	offset: number;
}

/** ListModel has the heights of all rows by key, and the place of the viewport. */
export class ListModel {
	heights = new Map<string, number>();
	tree = new Fenwick(0, 0);
	indexes = new Map<string, number>();
	keys: string[] = [];
	/** pinned is set while the list follows its end. */
	pinned = true;
	/** top is the last known scroll position. */
	top = 0;
	/** anchor is the row at the top of the viewport. */
	private anchor: Anchor | null = null;

	constructor(private readonly estimate: number) {}

	/** update rebuilds the tree if the keys changed. */
	update(rows: readonly Row[]): void {
		let same = rows.length >= this.keys.length;
		for (let i = 0; same && i < this.keys.length; i++) same = rows[i]!.key === this.keys[i];
		if (same && rows.length === this.keys.length) return;
		this.keys = rows.map((r) => r.key);
		this.indexes = new Map(this.keys.map((k, i) => [k, i]));
		this.tree = new Fenwick(rows.length, this.estimate);
		for (let i = 0; i < rows.length; i++) {
			const h = this.heights.get(this.keys[i]!);
			if (h !== undefined) this.tree.set(i, h);
		}
		if (this.heights.size > 4 * rows.length + 1000) {
			for (const key of this.heights.keys()) if (!this.indexes.has(key)) this.heights.delete(key);
		}
	}

	/** range returns the first row to mount, and the one after the last. margin is the height around the viewport. */
	range(top: number, height: number, margin = overscan): [number, number] {
		if (this.keys.length === 0) return [0, 0];
		const first = this.tree.find(Math.max(0, top - margin));
		const last = this.tree.find(top + height + margin);
		return [first, last + 1];
	}

	/**
	 * scrolled records a scroll position, and whether the list follows its end from now on. It still does if rows have
	 * grown or the box has shrunk since it was at its end: the user has not scrolled up then.
	 */
	scrolled(top: number, nearEnd: boolean): void {
		this.pinned = nearEnd || this.pinned && top >= this.top;
		this.top = top;
		this.remember(top);
	}

	/** remember makes the row at a scroll position the anchor. */
	private remember(top: number): void {
		const index = this.tree.find(top);
		const key = this.keys[index];
		this.anchor = key === undefined ? null : { key, offset: top - this.tree.sum(index) };
	}

	/** hold makes a row the anchor, at the place that it has at a scroll position. */
	hold(key: string, top: number): void {
		this.anchor = { key, offset: top - this.tree.sum(this.indexes.get(key)!) };
	}

	/** anchored returns the scroll position that keeps the anchor in place. */
	anchored(otherwise: number): number {
		const index = this.anchor ? this.indexes.get(this.anchor.key) : undefined;
		return index === undefined ? otherwise : this.tree.sum(index) + this.anchor!.offset;
	}

	/** measure takes the height of a row. It returns false if the height is known. */
	measure(key: string, height: number): boolean {
		if (this.heights.get(key) === height) return false;
		this.heights.set(key, height);
		const index = this.indexes.get(key);
		if (index !== undefined) this.tree.set(index, height);
		return true;
	}
}
