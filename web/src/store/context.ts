// The context items of a thread, and the plan of edits that are not applied yet.

import { computed, signal } from "@preact/signals";
import type {
	ContextCategory, ContextGetItemsResponse, ContextItem, ContextItemsNotification, ContextOperation, ContextUsage,
} from "../wire/types.ts";

/** Change is the planned state of one item. Undefined members stay as they are. */
export interface Change {
	included?: boolean;
	pinned?: boolean;
	deleted?: boolean;
	text?: string;
}

export type Plan = ReadonlyMap<string, Change>;

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

/** operationsOf returns the edits of a plan, each kind once. */
export function operationsOf(plan: Plan): ContextOperation[] {
	const ids = (test: (c: Change) => boolean) => [...plan].filter(([, c]) => test(c)).map(([id]) => id);
	const edits: ContextOperation[] = [];
	const add = (list: string[], edit: (ids: string[]) => ContextOperation) => {
		if (list.length > 0) edits.push(edit(list));
	};
	add(ids((c) => c.included === true), (list) => ({ type: "setInclusion", ids: list, included: true }));
	add(ids((c) => c.included === false), (list) => ({ type: "setInclusion", ids: list, included: false }));
	add(ids((c) => c.pinned === true), (list) => ({ type: "pin", ids: list, pinned: true }));
	add(ids((c) => c.pinned === false), (list) => ({ type: "pin", ids: list, pinned: false }));
	for (const [id, c] of plan) if (c.text !== undefined) edits.push({ type: "replace", id, text: c.text });
	add(ids((c) => c.deleted === true), (list) => ({ type: "pruneByIndices", ids: list }));
	return edits;
}

/**
 * rebase returns the part of a plan that still changes something, and the ids that do not exist any
 * more.
 */
export function rebase(plan: Plan, items: readonly ContextItem[]): { plan: Plan; lost: string[] } {
	const known = new Map(items.map((i) => [i.id, i]));
	const next = new Map<string, Change>();
	const lost: string[] = [];
	for (const [id, change] of plan) {
		const item = known.get(id);
		if (!item) {
			lost.push(id);
			continue;
		}
		const kept: Change = { ...change };
		if (kept.included === item.included) delete kept.included;
		if (kept.pinned === item.pinned) delete kept.pinned;
		if (Object.keys(kept).length > 0) next.set(id, kept);
	}
	return { plan: next, lost };
}

/** merge returns a plan with one more change; a change back to the item's state removes it. */
export function merge(plan: Plan, item: ContextItem, change: Change): Plan {
	const next = new Map(plan);
	const merged: Change = { ...plan.get(item.id), ...change };
	if (merged.included === item.included) delete merged.included;
	if (merged.pinned === item.pinned) delete merged.pinned;
	if (merged.deleted === false) delete merged.deleted;
	if (merged.text === undefined) delete merged.text;
	if (Object.keys(merged).length === 0) next.delete(item.id);
	else next.set(item.id, merged);
	return next;
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

	load(pages: readonly ContextGetItemsResponse[]): void {
		const last = pages[pages.length - 1]!;
		this.items.value = pages.flatMap((p) => p.items);
		this.usage.value = last.usage;
		this.revision.value = last.revision;
		this.loaded.value = true;
	}

	/** apply takes a notification. It returns false if the list must be loaded again. */
	apply(n: ContextItemsNotification): boolean {
		const list = applyDelta(this.items.value, n);
		if (!list) return false;
		this.items.value = list;
		this.usage.value = n.usage;
		this.revision.value = n.revision;
		this.loaded.value = true;
		return true;
	}
}

export const categoryNames: Record<ContextCategory, string> = {
	userInstructions: "Instructions",
	environmentContext: "Environment",
	developerMessage: "Notices",
	userMessage: "You",
	assistantMessage: "Agent",
	reasoning: "Reasoning",
	toolCall: "Tool calls",
	toolOutput: "Tool outputs",
	toolDefinition: "Tool definitions",
	summary: "Summaries",
	other: "Other",
};

/** reasons explain why an item is not in the next request. */
export const reasons: Record<string, string> = {
	excluded: "You excluded it.",
	callNotSent: "Its tool call is not sent.",
	answerNotSent: "It is reasoning, and the answer that it belongs to is not sent.",
	notTakenBack: "The provider does not accept reasoning back.",
	refused: "It is encrypted, and its provider could not read it.",
	replaced: "It is encrypted reasoning with a replaced text.",
	otherModel: "It is reasoning of another model.",
	otherProvider: "Only another provider can read it.",
	otherApi: "The API in use cannot send it.",
	compactionSent: "An encrypted compaction replaces it.",
	originalsSent: "The items that it summarizes are sent.",
	unreadable: "It cannot be decoded.",
};
