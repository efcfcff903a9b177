// What the model requests of a thread cost, and what edits of its context saved.

import type { ModelRequestTotal, ModelRequestUsage, ThreadUsageListResponse } from "../wire/types.ts";
import type { Requests } from "./requests.ts";

const pageSize = 1000;

/** Prices has the price of a million input tokens by model. */
export type Prices = Readonly<Record<string, { input?: number }>>;

/** Money has costs and savings in the currency of the prices. unpriced is the number of requests without a price. */
export interface Money {
	cost: number;
	saved: number;
	unpriced: number;
}

/** Usage has the sums of a thread. */
export interface Usage {
	total: ModelRequestTotal;
	/** money is null if no request has a price. */
	money: Money | null;
}

/** moneyOf sums costs and savings, which are in units of an input token of the model. */
export function moneyOf(requests: readonly ModelRequestUsage[], prices: Prices): Money | null {
	const sum: Money = { cost: 0, saved: 0, unpriced: 0 };
	let priced = 0;
	for (const r of requests) {
		if (r.cost === null) continue;
		const price = prices[r.model]?.input;
		if (price === undefined) {
			sum.unpriced++;
			continue;
		}
		priced++;
		sum.cost += (r.cost * price) / 1e6;
		sum.saved += ((r.saved ?? 0) * price) / 1e6;
	}
	return priced > 0 ? sum : null;
}

/** cachedShare returns the share of the input tokens that the provider read from its cache, or null without any. */
export const cachedShare = (total: ModelRequestTotal): number | null =>
	total.tokens.inputTokens > 0 ? total.tokens.cachedInputTokens / total.tokens.inputTokens : null;

/**
 * readUsage reads the sums of a thread, whose folder has the prices. It reads all requests if prices of models are
 * configured, and the newest otherwise.
 */
export async function readUsage({ call, threadId }: Pick<Requests, "call" | "threadId">, cwd?: string): Promise<Usage> {
	const read = (cursor: string | null): Promise<ThreadUsageListResponse> =>
		call("thread/usage/list", { threadId, limit: pageSize, cursor });
	const [first, config] = await Promise.all([read(null), call("config/read", cwd ? { cwd } : {})]);
	const prices = (config.config["model_prices"] ?? {}) as Prices;
	if (Object.keys(prices).length === 0) return { total: first.total, money: null };
	const requests = [...first.data];
	for (let cursor = first.nextCursor; cursor !== null;) {
		const page = await read(cursor);
		requests.push(...page.data);
		cursor = page.nextCursor;
	}
	return { total: first.total, money: moneyOf(requests, prices) };
}
