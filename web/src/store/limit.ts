// The warning before the context reaches its limit.

import { computed, signal } from "@preact/signals";
import type { ContextSuggestion } from "../wire/types.ts";
import { windowOf } from "../lib/window.ts";
import type { ThreadStore } from "./thread.ts";

/** warnShare is the share of the limit from which on the page warns. */
const warnShare = 0.85;
/** growthShare is the share of the limit by which the context grows before a dismissed warning comes back. */
const growthShare = 0.05;
/** maxDropped is the number of outputs that one click drops. */
export const maxDropped = 5;

/** Limit is a size of the next request, and what happens there. */
export interface Limit {
	tokens: number;
	compacts: boolean;
}

/** limitOf returns the smaller one of the size that is compacted and the window. */
export function limitOf(window: number, compaction: { limitTokens: number | null; limitShare: number }): Limit {
	const { limitTokens, limitShare } = compaction;
	if (limitTokens === 0) return { tokens: window, compacts: false };
	const tokens = limitTokens !== null && limitTokens < window ? limitTokens : Math.round(window * limitShare);
	return tokens < window ? { tokens, compacts: true } : { tokens: window, compacts: false };
}

/** staleOutputs returns the biggest tool outputs that suggestions name, of those that are sent. */
export function staleOutputs<T extends { id: string; category: string; tokens: number; inPrompt: boolean }>(
	suggestions: readonly Pick<ContextSuggestion, "itemIds">[], items: readonly T[],
): T[] {
	const stale = new Set(suggestions.flatMap((s) => s.itemIds));
	return items.filter((i) => stale.has(i.id) && i.category === "toolOutput" && i.inPrompt)
		.sort((a, b) => b.tokens - a.tokens).slice(0, maxDropped);
}

/** LimitWarning decides when the warning of one thread is shown. */
export class LimitWarning {
	/** dropped is the number of outputs that the last click dropped, until the user closes the message, or 0. */
	readonly dropped = signal(0);
	private readonly dismissedAt = signal<number | null>(null);
	readonly limit = computed<Limit | null>(() => {
		const usage = this.store.context.usage.value;
		return usage ? limitOf(windowOf(usage), this.store.settings.compaction.value) : null;
	});
	/** size is that of the next request, as far as it is known. */
	readonly size = computed(() => this.store.context.usage.value?.promptTokens ?? 0);
	readonly shown = computed(() => {
		const limit = this.limit.value;
		if (!limit || this.size.value < limit.tokens * warnShare) return false;
		const dismissed = this.dismissedAt.value;
		return dismissed === null || this.size.value >= dismissed + limit.tokens * growthShare;
	});

	constructor(private readonly store: ThreadStore) {}

	/** dismiss hides the warning until the context has grown. */
	dismiss(): void {
		this.dismissedAt.value = this.size.peek();
		this.dropped.value = 0;
	}
}
