// The search in the whole texts of the context, and the filter by category.

import { computed, effect, signal } from "@preact/signals";
import { lineOf } from "../wire/contextwords.ts";
import type { ContextCategory, ContextItem, ContextMatch } from "../wire/types.ts";
import { Delay } from "../lib/delay.ts";
import type { ContextList } from "./context.ts";
import type { Requests } from "./requests.ts";

const delayMs = 200;
/** snippets is the number of items whose first match is shown. The others show their preview. */
const snippets = 1000;

interface Query {
	query: string;
	regex: boolean;
	matchCase: boolean;
	includeRemoved: boolean;
}

/** Found is the answer of the server for one query. */
interface Found {
	query: Query;
	ids: ReadonlySet<string>;
	matches: ReadonlyMap<string, ContextMatch>;
	/** removed are the first matching items that are not in the list. The answer has the ids of all items only. */
	removed: readonly ContextMatch[];
}

/** ContextFind has the search in the context of one thread. */
export class ContextFind {
	readonly query = signal("");
	readonly regex = signal(false);
	readonly matchCase = signal(false);
	/** includeRemoved makes the search find items as well that are not in the list any more. */
	readonly includeRemoved = signal(false);
	readonly category = signal<ContextCategory | null>(null);
	readonly found = signal<Found | null>(null);
	readonly failure = signal("");
	/** items are the items of the list that fit. Until the answer comes, the previews decide. */
	readonly items = computed<readonly ContextItem[]>(() => {
		const category = this.category.value;
		const found = this.found.value;
		const words = this.query.value.trim().toLowerCase();
		const fits = (i: ContextItem) => words === "" ||
			(found ? found.ids.has(i.id) : lineOf(i).toLowerCase().includes(words));
		return this.context.items.value.filter((i) => (category === null || i.category === category) && fits(i));
	});
	/** removed are the matching items that are not in the list, of the category that is shown. */
	readonly removed = computed<readonly ContextMatch[]>(() => {
		const category = this.category.value;
		return (this.query.value.trim() === "" ? [] : this.found.value?.removed ?? [])
			.filter((m) => category === null || m.category === category);
	});
	/** removedCount counts removed items that the answer lacks, too, unless a category is shown. */
	readonly removedCount = computed(() => {
		const found = this.found.value;
		if (!found || this.removed.value.length === 0 || this.category.value !== null) return this.removed.value.length;
		return found.ids.size - this.context.items.value.filter((i) => found.ids.has(i.id)).length;
	});
	/** answered reports whether the items are those of the present query. */
	readonly answered = computed(() => {
		const found = this.found.value?.query;
		const now = this.present();
		return now.query.trim() === "" ||
			(found?.query === now.query && found.regex === now.regex && found.matchCase === now.matchCase &&
			found.includeRemoved === now.includeRemoved);
	});
	private readonly delay = new Delay(delayMs);

	constructor(private readonly requests: Requests, private readonly context: Pick<ContextList, "items">) {}

	/** start searches when the query or the context changes. It returns a function that ends this. */
	start(): () => void {
		const stop = effect(() => {
			const query = this.present();
			void this.context.items.value;
			this.delay.stop();
			this.failure.value = "";
			if (query.query.trim() === "") this.found.value = null;
			else this.delay.start(() => void this.run(query));
		});
		return () => {
			this.delay.stop();
			stop();
		};
	}

	private present(): Query {
		return {
			query: this.query.value, regex: this.regex.value, matchCase: this.matchCase.value,
			includeRemoved: this.includeRemoved.value,
		};
	}

	private async run(query: Query): Promise<void> {
		const result = await this.requests.call("context/search", {
			threadId: this.requests.threadId, ...query, limit: snippets,
		}).catch((error: Error) => error);
		if (JSON.stringify(query) !== JSON.stringify(this.present())) return; // another query is on its way
		if (result instanceof Error) this.failure.value = result.message;
		else {
			this.found.value = {
				query, ids: new Set(result.ids), matches: new Map(result.data.map((m) => [m.id, m])),
				removed: result.data.filter((m) => m.index < 0),
			};
		}
	}

	/** search searches for a text in all items, removed ones too. */
	search(text: string): void {
		this.regex.value = this.matchCase.value = false;
		this.category.value = null;
		this.includeRemoved.value = true;
		this.query.value = text;
	}

	/** clear ends the search and shows all categories. */
	clear(): void {
		this.query.value = "";
		this.category.value = null;
	}

	/** active reports whether some items may be filtered out. */
	get active(): boolean {
		return this.query.value.trim() !== "" || this.category.value !== null;
	}
}
