// What model requests cost in money, where prices are known.

import type { ModelPrices, ModelRequestUsage } from "../wire/types.ts";
import { amount } from "../lib/format.ts";
import type { Requests } from "./requests.ts";

type Reader = Pick<Requests, "call">;

/** Money is an amount in a currency, which is empty for prices of the configuration. */
export interface Money {
	sum: number;
	currency: string;
}

/** moneyText formats an amount with its currency. */
export const moneyText = ({ sum, currency }: Money): string =>
	currency === "USD" ? `$${amount(sum)}` : currency === "" ? amount(sum) : `${amount(sum)} ${currency}`;

/** PriceTable finds the prices of models. They are read once. */
export class PriceTable {
	private readonly providers = new Map<string, Promise<Map<string, ModelPrices>>>();
	private configured: Promise<Record<string, { input?: number }>> | null = null;

	/** folder returns the folder whose configuration has prices. */
	constructor(private readonly requests: Reader, private readonly folder: () => string | undefined) {}

	/** moneyOf sums the costs of requests. It returns null if a price is missing, or if the currencies differ. */
	async moneyOf(requests: readonly ModelRequestUsage[]): Promise<Money | null> {
		let total = null as Money | null;
		for (const r of requests) {
			if (r.cost === null) continue;
			const price = await this.priceOf(r);
			if (price === null || (total && total.currency !== price.currency)) return null;
			total = { sum: (total?.sum ?? 0) + (r.cost * price.sum) / 1e6, currency: price.currency };
		}
		return total;
	}

	/** priceOf returns the price of a million input tokens, in which costs count. */
	private async priceOf(r: ModelRequestUsage): Promise<Money | null> {
		const listed = (await this.listed(r.provider)).get(r.model);
		if (listed?.input != null) return { sum: listed.input, currency: listed.currency ?? "" };
		const own = (await this.config())[r.model]?.input;
		return own === undefined ? null : { sum: own, currency: "" };
	}

	private listed(provider: string): Promise<Map<string, ModelPrices>> {
		const known = this.providers.get(provider);
		if (known) return known;
		const read = this.requests.call("model/list", { modelProvider: provider, includeHidden: true })
			.then(({ data }) => new Map(data.flatMap((m) => (m.prices ? [[m.model, m.prices] as const] : []))), () => new Map());
		this.providers.set(provider, read);
		return read;
	}

	private config(): Promise<Record<string, { input?: number }>> {
		const cwd = this.folder();
		this.configured ??= this.requests.call("config/read", cwd ? { cwd } : {})
			.then(({ config }) => (config["model_prices"] ?? {}) as Record<string, { input?: number }>, () => ({}));
		return this.configured;
	}
}

const pageSize = 100;
/** maxPages bounds what is read of a thread's requests for one turn. */
const maxPages = 20;

/** readTurnRequests returns the requests of a turn, the newest first. They follow each other in the list. */
export async function readTurnRequests(
	{ call, threadId }: Pick<Requests, "call" | "threadId">, turnId: string,
): Promise<ModelRequestUsage[]> {
	const found: ModelRequestUsage[] = [];
	let cursor: string | null = null;
	for (let i = 0; i < maxPages; i++) {
		const page: { data: ModelRequestUsage[]; nextCursor: string | null } =
			await call("thread/usage/list", { threadId, limit: pageSize, cursor });
		found.push(...page.data.filter((r) => r.turnId === turnId));
		cursor = page.nextCursor;
		if (cursor === null || (found.length > 0 && page.data.at(-1)?.turnId !== turnId)) break;
	}
	return found;
}
