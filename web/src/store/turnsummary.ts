// What the turn in progress, or else the last one, added to the context, and what it took.

import { computed, signal } from "@preact/signals";
import type { ServerNotification, Turn } from "../wire/types.ts";
import { Delay } from "../lib/delay.ts";
import { Newest } from "../lib/newest.ts";
import { PriceTable, readTurnRequests, type Money } from "./money.ts";
import type { ThreadStore } from "./thread.ts";

const readDelayMs = 500;

/** Summarised is a turn with its times in milliseconds. tookMs is null while it is in progress. */
export interface Summarised {
	id: string;
	startedMs: number;
	tookMs: number | null;
}

/** TurnSummary follows the turns of one thread. */
export class TurnSummary {
	readonly turn = signal<Summarised | null>(null);
	readonly money = signal<Money | null>(null);
	/** base is the size of the next request when the turn began, or null if the page came later. */
	private readonly base = signal<number | null>(null);
	/** reported is the size of the last request of the turn with its answer, or null. */
	private readonly reported = signal<number | null>(null);
	/**
	 * added is the number of tokens of the turn in the next request: those of its context items, or the growth that the
	 * provider's reports tell while the list does not have them.
	 */
	readonly added = computed(() => {
		const turn = this.turn.value;
		if (!turn) return 0;
		const listed = this.store.context.items.value
			.reduce((sum, i) => (i.turnId === turn.id && i.inPrompt ? sum + i.tokens : sum), 0);
		if (listed > 0 || this.base.value === null || this.reported.value === null) return listed;
		return Math.max(0, this.reported.value - this.base.value);
	});
	private readonly prices: PriceTable;
	private readonly delay = new Delay(readDelayMs);
	private readonly reads = new Newest();

	constructor(private readonly store: ThreadStore) {
		this.prices = new PriceTable(store.requests, () => store.settings.thread.peek()?.cwd);
		store.watch((n) => this.notified(n));
	}

	/** load reads the newest turn. */
	async load(): Promise<void> {
		const { call, threadId } = this.store.requests;
		const page = await call("thread/turns/list", { threadId, limit: 1, itemsView: "notLoaded" }).catch(() => null);
		const last = page?.data[0];
		if (!last || last.startedAt === null) return;
		const same = this.turn.peek()?.id === last.id;
		this.turn.value = { id: last.id, startedMs: same ? this.turn.peek()!.startedMs : last.startedAt * 1000,
			tookMs: last.status === "inProgress" ? null : tookOf(last) };
		this.readMoney();
	}

	private notified(n: ServerNotification): void {
		if (n.method === "turn/started") {
			this.turn.value = { id: n.params.turn.id, startedMs: Date.now(), tookMs: null };
			this.base.value = this.store.context.usage.peek()?.promptTokens ?? null;
			this.reported.value = this.money.value = null;
		}
		const turn = this.turn.peek();
		if (!turn) return;
		if (n.method === "turn/completed" && n.params.turn.id === turn.id) {
			this.turn.value = { ...turn, tookMs: n.params.turn.durationMs ?? Date.now() - turn.startedMs };
			this.readMoney();
		}
		if (n.method === "thread/tokenUsage/updated" && n.params.turnId === turn.id) {
			this.reported.value = n.params.tokenUsage.last.totalTokens;
			this.readMoney();
		}
	}

	/** readMoney reads the cost of the turn so far, once for reports that come together. */
	private readMoney(): void {
		const turn = this.turn.peek();
		if (!turn) return;
		this.delay.start(() => void this.reads.run(async (isNewest) => {
			const money = await readTurnRequests(this.store.requests, turn.id)
				.then((list) => this.prices.moneyOf(list)).catch(() => null);
			if (isNewest() && this.turn.peek()?.id === turn.id) this.money.value = money;
		}));
	}
}

function tookOf(t: Turn): number {
	return t.durationMs ?? Math.max(0, ((t.completedAt ?? t.startedAt ?? 0) - (t.startedAt ?? 0)) * 1000);
}
