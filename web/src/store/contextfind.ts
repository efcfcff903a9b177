// The search in the whole texts of the context, and the filter by category.

import { computed, effect, signal } from "@preact/signals";
import type { ContextCategory, ContextItem, ContextMatch } from "../wire/types.ts";
import type { ThreadStore } from "./thread.ts";

const delayMs = 200;
/** snippets is the number of items whose first match is shown. The others show their preview. */
const snippets = 1000;

/** Found is the answer of the server for one query. */
interface Found {
	ids: ReadonlySet<string>;
	matches: ReadonlyMap<string, ContextMatch>;
}

export class ContextFind {
	readonly query = signal("");
	readonly regex = signal(false);
	readonly matchCase = signal(false);
	readonly category = signal<ContextCategory | null>(null);
	readonly found = signal<Found | null>(null);
	readonly failure = signal("");
	/** items are the items of the list that fit. Until the answer comes, the previews decide. */
	readonly items = computed<readonly ContextItem[]>(() => {
		const category = this.category.value;
		const found = this.found.value;
		const words = this.query.value.trim().toLowerCase();
		const fits = (i: ContextItem) => words === "" || (found ? found.ids.has(i.id) : i.preview.toLowerCase().includes(words));
		return this.store.context.items.value.filter((i) => (category === null || i.category === category) && fits(i));
	});
	private timer = 0;

	constructor(private readonly store: ThreadStore) {}

	/** start searches when the query or the context changes. It returns a function that ends this. */
	start(): () => void {
		const stop = effect(() => {
			const query = { query: this.query.value, regex: this.regex.value, matchCase: this.matchCase.value };
			void this.store.context.items.value;
			clearTimeout(this.timer);
			this.failure.value = "";
			if (query.query.trim() === "") this.found.value = null;
			else this.timer = window.setTimeout(() => void this.run(query), delayMs);
		});
		return () => {
			clearTimeout(this.timer);
			stop();
		};
	}

	private async run(query: { query: string; regex: boolean; matchCase: boolean }): Promise<void> {
		const result = await this.store.call("context/search", { threadId: this.store.id, ...query, limit: snippets })
			.catch((error: Error) => error);
		if (query.query !== this.query.value || query.regex !== this.regex.value || query.matchCase !== this.matchCase.value) return;
		if (result instanceof Error) {
			this.failure.value = result.message;
			return;
		}
		this.found.value = { ids: new Set(result.ids), matches: new Map(result.data.map((m) => [m.id, m])) };
	}

	clear(): void {
		this.query.value = "";
		this.category.value = null;
	}

	/** active reports whether some items may be filtered out. */
	get active(): boolean {
		return this.query.value.trim() !== "" || this.category.value !== null;
	}
}
