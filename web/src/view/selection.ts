// What is selected, open and searched in the context panel. The list and the map share it.

import { signal } from "@preact/signals";
import { ContextFind } from "../store/contextfind.ts";
import type { ThreadStore } from "../store/thread.ts";

export class Selection {
	readonly focus = signal<string | null>(null);
	readonly anchor = signal<string | null>(null);
	readonly selected = signal<ReadonlySet<string>>(new Set());
	readonly open = signal<ReadonlySet<string>>(new Set());
	readonly find: ContextFind;

	constructor(store: ThreadStore) {
		this.find = new ContextFind(store);
	}
}
