// The context items of a thread.

import { batch, computed, signal } from "@preact/signals";
import { textOfParts } from "../lib/format.ts";
import { Newest } from "../lib/newest.ts";
import type {
	ContextGetItemsResponse, ContextItem, ContextItemsNotification, ContextUsage, ServerNotification,
} from "../wire/types.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";

const pageSize = 2000;
/** maxReads is the number of attempts to read a list that changes meanwhile. */
const maxReads = 5;

/** replaceable reports whether the server can replace the text of an item. */
export function replaceable(item: ContextItem): boolean {
	return item.category === "toolOutput" || item.category === "reasoning";
}

/** applyDelta returns the list after a notification. It returns null if the delta does not fit. */
export function applyDelta(items: readonly ContextItem[], n: ContextItemsNotification): ContextItem[] | null {
	if (n.full) return [...n.items];
	if (n.removedIds.length === 0 && n.total === items.length && n.items.every((i) => items[i.index]?.id === i.id)) {
		const same = [...items]; // the same items in the same places, as after most edits
		for (const item of n.items) same[item.index] = item;
		return same;
	}
	const removed = new Set(n.removedIds);
	const list = items.filter((i) => !removed.has(i.id));
	const places = new Map(list.map((i, k) => [i.id, k]));
	const added: ContextItem[] = [];
	for (const item of n.items) {
		const place = places.get(item.id);
		if (place === undefined) added.push(item);
		else list[place] = item;
	}
	for (const item of added) list.splice(item.index, 0, item);
	return list.length === n.total ? list.map((item, index) => (item.index === index ? item : { ...item, index })) : null;
}

/** ContextList has the items of one thread as the server reports them. */
export class ContextList {
	readonly items = signal<readonly ContextItem[]>([]);
	readonly usage = signal<ContextUsage | null>(null);
	readonly revision = signal(0);
	readonly loaded = signal(false);
	/** largest is the price of the most expensive item. */
	readonly largest = computed(() => this.items.value.reduce((most, i) => Math.max(most, i.tokens), 1));
	readonly byItemId = computed(() => {
		const map = new Map<string, ContextItem[]>();
		for (const i of this.items.value) {
			if (!i.itemId) continue;
			const list = map.get(i.itemId);
			if (list) list.push(i);
			else map.set(i.itemId, [i]);
		}
		return map;
	});

	private readonly reads = new Newest();

	constructor(private readonly requests: Requests, private readonly notices: Notices) {}

	/** read reads the whole list. If it changes between two pages, it is read again. */
	read(): Promise<void> {
		return this.reads.run((isNewest) => this.readAll(isNewest));
	}

	private async readAll(isNewest: () => boolean): Promise<void> {
		try {
			let pages = await this.readPages();
			for (let i = 1; i < maxReads && pages.some((p) => p.revision !== pages[0]!.revision); i++) {
				pages = await this.readPages();
			}
			if (isNewest()) this.load(pages);
		} catch (error) {
			if (isNewest()) this.notices.report(error);
		}
	}

	private async readPages(): Promise<ContextGetItemsResponse[]> {
		const { call, threadId } = this.requests;
		const pages: ContextGetItemsResponse[] = [];
		let cursor: string | null = null;
		do {
			const page: ContextGetItemsResponse = await call("context/getItems", { threadId, cursor, limit: pageSize });
			pages.push(page);
			cursor = page.nextCursor;
		} while (cursor !== null);
		return pages;
	}

	/**
	 * readText returns the whole text that the model gets of a context item, or its original text if the model does not
	 * get it, and the number of parts that are no text.
	 */
	async readText(id: string): Promise<{ text: string; others: number }> {
		const { call, threadId } = this.requests;
		const { item, sent, original } = await call("context/readItem", { threadId, id });
		const parts = item.included && sent ? sent : original; // what is sent of an excluded item is a placeholder
		const texts = parts.filter((p) => p.type === "text");
		return { text: textOfParts(texts), others: parts.length - texts.length };
	}

	/** notified takes a change of the list. If it does not fit, the whole list is read. */
	notified(n: ServerNotification): void {
		if (n.method === "ContextItems" && !this.apply(n.params)) void this.read();
	}

	private load(pages: readonly ContextGetItemsResponse[]): void {
		const last = pages[pages.length - 1]!;
		this.set(pages.flatMap((p) => p.items), last.usage, last.revision);
	}

	/** apply changes the list. It returns false if the list must be read again. */
	private apply(n: ContextItemsNotification): boolean {
		const list = applyDelta(this.items.value, n);
		if (!list) return false;
		this.set(list, n.usage, n.revision);
		return true;
	}

	private set(items: readonly ContextItem[], usage: ContextUsage, revision: number): void {
		batch(() => {
			this.items.value = items;
			this.usage.value = usage;
			this.revision.value = revision;
			this.loaded.value = true;
		});
	}
}
