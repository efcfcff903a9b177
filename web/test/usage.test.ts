import { cachedShare, moneyOf, readUsage } from "../src/store/usage.ts";
import type { ModelRequestTotal, ModelRequestUsage } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

const request = (model: string, cost: number | null, saved: number | null = 0) =>
	({ model, cost, saved }) as ModelRequestUsage;

test("money counts requests by the price of their model, and requests without a price", () => {
	const requests = [request("a", 1_000_000, 500_000), request("b", 2_000_000), request("c", 5, 5),
		request("a", null, null)];
	equal(moneyOf(requests, { a: { input: 3 }, b: { input: 10 } }), { cost: 23, saved: 1.5, unpriced: 1 });
	equal(moneyOf(requests, { d: { input: 3 }, a: {} }), null);
});

test("the cached share is unknown without tokens", () => {
	const total = (inputTokens: number, cachedInputTokens: number) =>
		({ tokens: { inputTokens, cachedInputTokens } }) as ModelRequestTotal;
	equal([cachedShare(total(200, 50)), cachedShare(total(0, 0))], [0.25, null]);
});

test("all pages of requests are read if prices are configured, and one otherwise", async () => {
	const total = { requests: 2 };
	const pages: Record<string, unknown> = {
		first: { data: [request("a", 1_000_000)], total, nextCursor: "second" },
		second: { data: [request("a", 1_000_000)], total, nextCursor: null },
	};
	const thread = (prices: unknown) => ({
		threadId: "t",
		call: async (method: string, p: { cursor: string | null }) =>
			(method === "config/read" ? { config: { model_prices: prices } } : pages[p.cursor ?? "first"]),
	}) as unknown as Parameters<typeof readUsage>[0];
	equal((await readUsage(thread({ a: { input: 1 } }))).money, { cost: 2, saved: 0, unpriced: 0 });
	equal((await readUsage(thread(null))).money, null);
});
