// The entries of a thread: pages of thread/timeline/list merged with live notifications.

import { signal, type Signal } from "@preact/signals";
import { Blocks } from "../lib/blocks.ts";
import type {
	ThreadItem, ThreadTimelineEntry, ThreadTimelineListResponse, TimelineItem, TimelineTrimPoint,
} from "../wire/types.ts";

/** Entry is one entry with the state that its view needs. */
export interface Entry {
	key: string;
	data: ThreadTimelineEntry;
	/** version changes with the content of the entry. */
	version: Signal<number>;
	/** blocks parses the text of a message. */
	blocks: Blocks;
	/** whole is set if the user asked for all of its texts. */
	whole: boolean;
	/** live is set until a page of the server has the entry. */
	live: boolean;
}

/** keyOf returns an id that is equal for the live and the stored form of an entry. */
export function keyOf(e: ThreadTimelineEntry): string {
	switch (e.type) {
		case "item":
			return `i:${e.turnId}:${e.item.id}`;
		case "turnStarted":
			return `s:${e.turnId}`;
		case "turnCompleted":
			return `c:${e.turnId}`;
		case "summary":
			return `u:${e.trimPointId}`;
		case "trimPoint":
			return `t:${e.trimPoint.id}`;
	}
}

function entryOf(data: ThreadTimelineEntry, live: boolean): Entry {
	return { key: keyOf(data), data, version: signal(0), blocks: new Blocks(), whole: false, live };
}

/**
 * Edge says where the next page begins: a cursor, or an item at the edge of what is loaded. Null is the
 * end of the thread in that direction.
 */
export type Edge = { cursor: string } | { around: string; turnId: string } | null;

/** maxEntries is the number of entries in memory, above which the farthest ones are dropped. */
const maxEntries = 20_000;

const edgeOf = (cursor: string | null | undefined): Edge => (cursor ? { cursor } : null);

function aroundItem(e: Entry): Edge {
	const { item, turnId } = e.data as TimelineItem;
	return { around: item.id, turnId };
}

/** Timeline has the loaded part of a thread, oldest entry first. */
export class Timeline {
	private list: Entry[] = [];
	private byKey = new Map<string, Entry>();
	/** held has live entries that are newer than the loaded part. */
	private held = new Map<string, Entry>();
	/** changed increases when entries are added, removed or moved, which changes the list in place. */
	private readonly changed = signal(0);
	older: Edge = null;
	newer: Edge = null;
	private dirty = new Set<Entry>();
	private frame = 0;

	/** entries are the loaded entries. What reads them while it renders is rendered again when the list changes. */
	get entries(): readonly Entry[] {
		void this.changed.value;
		return this.list;
	}

	/** reset replaces all entries by a page. Live entries that it lacks stay at the end of the thread. */
	reset(page: ThreadTimelineListResponse): void {
		for (const e of this.list) if (e.live) this.held.set(e.key, e);
		const former = this.byKey;
		this.list = [];
		this.byKey = new Map();
		for (const data of page.data) this.append(data, false, former.get(keyOf(data)));
		this.older = edgeOf(page.nextCursor);
		this.newer = edgeOf(page.newerCursor);
		this.release();
		this.changed.value++;
	}

	/** settle leaves it to the next page which entries exist. The server has stored all of them, or removed them. */
	settle(): void {
		for (const e of this.list) e.live = false;
		this.held.clear();
	}

	/** prepend adds an older page. */
	prepend(page: ThreadTimelineListResponse): void {
		const added: Entry[] = [];
		for (const data of page.data) {
			if (this.byKey.has(keyOf(data))) continue;
			const e = entryOf(data, false);
			added.push(e);
			this.byKey.set(e.key, e);
		}
		this.list = [...added, ...this.list];
		this.older = edgeOf(page.nextCursor);
		if (this.list.length > maxEntries) this.dropNewest();
		this.changed.value++;
	}

	/** extend adds a newer page. */
	extend(page: ThreadTimelineListResponse): void {
		for (const data of page.data) {
			const held = this.held.get(keyOf(data));
			this.held.delete(keyOf(data));
			if (!this.byKey.has(keyOf(data))) this.append(data, false, held);
		}
		this.newer = edgeOf(page.newerCursor);
		this.release();
		if (this.list.length > maxEntries) this.dropOldest();
		this.changed.value++;
	}

	/** release inserts the live entries when the end of the thread is loaded. */
	private release(): void {
		if (this.newer !== null) return;
		for (const e of this.held.values()) if (!this.byKey.has(e.key)) this.insert(e);
		this.held.clear();
	}

	private dropNewest(): void {
		const at = this.lastItem(maxEntries * 3 / 4);
		if (at < 0) return;
		for (const e of this.list.splice(at + 1)) {
			this.byKey.delete(e.key);
			if (e.live) this.held.set(e.key, e);
		}
		this.newer = aroundItem(this.list[at]!);
	}

	private dropOldest(): void {
		const at = this.lastItem(this.list.length - maxEntries * 3 / 4);
		if (at < 0) return;
		for (const e of this.list.splice(0, at)) this.byKey.delete(e.key);
		this.older = aroundItem(this.list[0]!);
	}

	/** lastItem returns the index of the last item before an index, or -1. */
	private lastItem(before: number): number {
		for (let i = Math.floor(before) - 1; i >= 0; i--) if (this.list[i]!.data.type === "item") return i;
		return -1;
	}

	private append(data: ThreadTimelineEntry, live: boolean, former?: Entry): Entry {
		const e = former ?? entryOf(data, live);
		e.data = data;
		e.live = live;
		if (former) e.version.value++;
		this.insert(e);
		return e;
	}

	private insert(e: Entry): void {
		this.list.push(e);
		this.byKey.set(e.key, e);
	}

	/** put adds a live entry, or replaces the content of the one with its key. */
	put(data: ThreadTimelineEntry): Entry {
		const known = this.byKey.get(keyOf(data));
		if (known) {
			known.data = data;
			this.touch(known);
			return known;
		}
		const held = this.held.get(keyOf(data));
		if (held) {
			held.data = data;
			return held;
		}
		if (this.newer !== null) {
			const e = entryOf(data, true);
			this.held.set(e.key, e);
			return e;
		}
		const e = this.append(data, true);
		this.changed.value++;
		return e;
	}

	/** item returns the entry of an item. */
	item(turnId: string, itemId: string): (Entry & { data: TimelineItem }) | undefined {
		const key = `i:${turnId}:${itemId}`;
		return (this.byKey.get(key) ?? this.held.get(key)) as (Entry & { data: TimelineItem }) | undefined;
	}

	/** edit changes an item in place; its view is updated with the next frame. */
	edit(turnId: string, itemId: string, change: (item: ThreadItem) => void): void {
		const e = this.item(turnId, itemId);
		if (!e) return;
		change(e.data.item);
		this.touch(e);
	}

	private touch(e: Entry): void {
		this.dirty.add(e);
		if (this.frame) return;
		const flush = () => {
			this.frame = 0;
			const list = [...this.dirty];
			this.dirty.clear();
			for (const d of list) d.version.value++;
		};
		this.frame = document.hidden ? window.setTimeout(flush, 50) : requestAnimationFrame(flush);
	}

	/** indexOfItem returns the position of an item in entries, or -1. */
	indexOfItem(itemId: string): number {
		return this.list.findIndex((e) => e.data.type === "item" && e.data.item.id === itemId);
	}

	/** sectionOf returns the id of the trim point after an item, or null. */
	sectionOf(itemId: string): string | null {
		for (let i = this.indexOfItem(itemId); i >= 0 && i < this.list.length; i++) {
			const d = this.list[i]!.data;
			if (d.type === "trimPoint") return d.trimPoint.id;
		}
		return null;
	}

	/** isFirstMessage reports whether no message of the user is before this one in its turn, as far as it is loaded. */
	isFirstMessage({ turnId, item }: TimelineItem): boolean {
		const first = this.list.find(({ data: d }) =>
			d.type === "item" && d.turnId === turnId && d.item.type === "userMessage");
		return first?.data.type === "item" && first.data.item.id === item.id;
	}

	/** lastTurn returns the id of the newest turn that is loaded, or null. */
	lastTurn(): string | null {
		const starts = [...this.list, ...this.held.values()].filter((e) => e.data.type === "turnStarted");
		const last = starts.at(-1)?.data;
		return last?.type === "turnStarted" ? last.turnId : null;
	}

	/** openTurn returns the id of the last turn if it has not ended. */
	openTurn(): string | null {
		const entries = [...this.list, ...this.held.values()];
		for (let i = entries.length - 1; i >= 0; i--) {
			const d = entries[i]!.data;
			if (d.type === "turnCompleted") return null;
			if (d.type === "turnStarted") return d.turnId;
		}
		return null;
	}
}

/** lastTrimPoint returns the newest trim point of the entries. */
export function lastTrimPoint(entries: readonly Entry[]): TimelineTrimPoint | null {
	for (let i = entries.length - 1; i >= 0; i--) {
		const d = entries[i]!.data;
		if (d.type === "trimPoint") return d;
	}
	return null;
}

/**
 * visibleEntries returns the entries to show. The entries before each trim point are one section,
 * which is hidden unless the id of the trim point is in open. Turn boundaries have no row of their
 * own, except a turn that failed or was interrupted, or whose id is in reported.
 */
export function visibleEntries(
	entries: readonly Entry[], open: ReadonlySet<string>, reported: { has(turnId: string): boolean } = new Set(),
): Entry[] {
	const shown: Entry[] = [];
	let section: Entry[] = [];
	for (const e of entries) {
		const d = e.data;
		if (d.type === "turnStarted" || (d.type === "turnCompleted" && d.status === "completed" && !reported.has(d.turnId))) {
			continue;
		}
		if (d.type === "item" && d.item.type === "contextCompaction" && !e.live) continue; // its trim point is shown
		if (d.type === "summary") {
			section.push(e);
			continue;
		}
		if (d.type === "trimPoint") {
			const banner = section.at(-1)?.data.type === "summary" ? section.pop()! : null;
			if (open.has(d.trimPoint.id)) shown.push(...section);
			if (banner) shown.push(banner);
			shown.push(e);
			section = [];
			continue;
		}
		section.push(e);
	}
	shown.push(...section);
	return shown;
}
