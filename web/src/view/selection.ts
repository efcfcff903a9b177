// What is selected, open and searched in the context panel. The list and the map share it.

import { signal } from "@preact/signals";
import { toggled } from "../lib/toggled.ts";
import { ContextFind } from "../store/contextfind.ts";
import type { ContextRow } from "../store/contextrows.ts";
import type { ThreadStore } from "../store/thread.ts";

/** Selection belongs to the panel of one thread. */
export class Selection {
	readonly focus = signal<string | null>(null);
	readonly anchor = signal<string | null>(null);
	readonly selected = signal<ReadonlySet<string>>(new Set());
	readonly open = signal<ReadonlySet<string>>(new Set());
	readonly find: ContextFind;

	constructor(store: ThreadStore) {
		this.find = new ContextFind(store.requests, store.context);
	}

	/**
	 * moveTo makes a row the focused one. extend selects the items from the anchor to it. It returns the row's index, or
	 * -1.
	 */
	moveTo(rows: readonly ContextRow[], key: string, extend: boolean): number {
		const index = rows.findIndex((r) => r.key === key);
		if (index < 0) return index;
		this.focus.value = key;
		if (!extend) {
			this.anchor.value = key;
			this.selected.value = new Set();
			return index;
		}
		const from = rows.findIndex((r) => r.key === this.anchor.value);
		const [a, b] = from < index ? [from, index] : [index, from];
		const between = rows.slice(Math.max(0, a), b + 1);
		this.selected.value = new Set(between.flatMap((r) => (r.kind === "item" ? [r.item.id] : [])));
		return index;
	}

	/** targets returns the ids of the items that an action changes: the selected ones, or those of the focused row. */
	targets(rows: readonly ContextRow[]): string[] {
		if (this.selected.value.size > 0) return [...this.selected.value];
		const row = rows.find((r) => r.key === this.focus.value);
		return row?.kind === "item" ? [row.item.id] : row?.kind === "turn" ? row.items.map((i) => i.id) : [];
	}

	/** toggleOpen shows the details of an item, or hides them. */
	toggleOpen(id: string): void {
		this.open.value = toggled(this.open.value, id);
	}
}
