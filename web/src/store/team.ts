// The team of one thread: the agents that it has started, and theirs. It follows what they do, say and spend.

import { computed, signal } from "@preact/signals";
import { Delay } from "../lib/delay.ts";
import type { ServerNotification, Thread, ThreadItem, Turn } from "../wire/types.ts";
import { agents, readAgents, teamOf } from "./agents.ts";
import { PriceTable, type Money } from "./money.ts";
import { inbox } from "./questions.ts";
import type { ThreadStore } from "./thread.ts";

/** Phase is what an agent does, or what became of it. */
export type Phase = "starts" | "runs" | "waits" | "asks" | "done" | "interrupted" | "failed" | "closed";

/** Report has the end of the last turn of an agent: its last message, or its error. */
interface Report {
	phase: Phase;
	message: string;
}

/** Spent is what the requests of a thread cost. money is null if a price is not known. */
export interface Spent {
	tokens: number;
	money: Money | null;
}

type AgentCall = Extract<ThreadItem, { type: "collabAgentToolCall" }>;

/** maxRead bounds the agents whose last turns are read, maxRequests the requests of a thread that are priced. */
const maxRead = 30;
const maxRequests = 1000;

/** Team is made when a view first wants it. */
export class Team {
	/** members are the agents, each before its own agents. */
	readonly members = computed<readonly Thread[]>(() => teamOf(this.store.id));
	/** closed are the agents that the thread has closed, as far as its conversation is loaded. */
	readonly closed = computed<ReadonlySet<string>>(() => this.readClosed());
	readonly spent = signal<ReadonlyMap<string, Spent>>(new Map());
	private readonly reports = signal<ReadonlyMap<string, Report>>(new Map());
	/** waiting has the agents that wait for others. */
	private readonly waiting = signal<ReadonlySet<string>>(new Set());
	/** asking are the parts of agents that ask, for their questions. */
	private readonly asking = new Map<string, ThreadStore>();
	private readonly prices: PriceTable;
	private readonly unpriced = new Set<string>();
	private readonly pricing = new Delay(400);

	constructor(private readonly store: ThreadStore) {
		this.prices = new PriceTable(store.requests, () => store.settings.thread.peek()?.cwd);
		store.watch((n) => this.ownNotified(n));
		store.listen((n) => this.notified(n));
	}

	/** read reads the agents, the ends of their last turns, and what they and the thread have spent. */
	async read(): Promise<void> {
		await readAgents(this.store.requests, this.store.id).catch(() => undefined);
		const members = this.members.peek();
		for (const t of members) this.price(t.id);
		if (members.length > 0) this.price(this.store.id);
		const idle = members.filter((t) => t.status.type !== "active").slice(-maxRead);
		await Promise.all(idle.map((t) => this.readReport(t.id)));
	}

	/** phaseOf returns what an agent does, or null if that is not known. */
	phaseOf(id: string): Phase | null {
		if (inbox.value.some((r) => r.threadId === id)) return "asks";
		const status = this.members.value.find((t) => t.id === id)?.status;
		if (status?.type === "active") {
			return status.activeFlags.length > 0 ? "asks" : this.waiting.value.has(id) ? "waits" : "runs";
		}
		if (this.closed.value.has(id)) return "closed";
		return this.reports.value.get(id)?.phase ?? (status?.type === "systemError" ? "failed" : null);
	}

	/** messageOf returns the last message of an agent that does nothing now, or its error, or "". */
	messageOf(id: string): string {
		return this.reports.value.get(id)?.message ?? "";
	}

	/** storeOf returns the parts of an agent that asks. made makes them. */
	storeOf(id: string, made: () => ThreadStore): ThreadStore {
		const known = this.asking.get(id);
		if (known) return known;
		const store = made();
		this.asking.set(id, store);
		void store.items.loadEnd();
		return store;
	}

	/** dispose ends what the team started. */
	dispose(): void {
		this.pricing.stop();
		for (const store of this.asking.values()) store.dispose();
	}

	private async readReport(id: string): Promise<void> {
		const { call } = this.store.requests;
		const page = await call("thread/turns/list", { threadId: id, limit: 1 }).catch(() => null);
		const turn = page?.data[0];
		if (turn && turn.status !== "inProgress") this.report(id, turn);
	}

	private report(id: string, turn: Turn): void {
		const last = turn.items.findLast((i) => i.type === "agentMessage");
		const report: Report = turn.status === "failed" ? { phase: "failed", message: turn.error?.message ?? "" }
			: turn.status === "interrupted" ? { phase: "interrupted", message: "" }
			: { phase: "done", message: last?.type === "agentMessage" ? last.text : "" };
		this.reports.value = new Map(this.reports.peek()).set(id, report);
	}

	private readClosed(): ReadonlySet<string> {
		const closed = new Set<string>();
		for (const e of this.store.items.timeline.entries) {
			if (e.data.type !== "item" || e.data.item.type !== "collabAgentToolCall") continue;
			void e.version.value;
			const { tool, status, receiverThreadIds } = e.data.item as AgentCall;
			if (status !== "completed" || tool === "wait") continue;
			for (const id of receiverThreadIds) {
				if (tool === "closeAgent") closed.add(id);
				else closed.delete(id);
			}
		}
		return closed;
	}

	/** ownNotified reads the agents after the thread has started one, and prices its requests. */
	private ownNotified(n: ServerNotification): void {
		if (n.method === "thread/tokenUsage/updated" && this.members.peek().length > 0) this.price(this.store.id);
		if (n.method !== "item/completed" || n.params.item.type !== "collabAgentToolCall") return;
		const { receiverThreadIds } = n.params.item;
		if (receiverThreadIds.some((id) => !agents.peek().some((t) => t.id === id))) void this.read();
	}

	private notified(n: ServerNotification): void {
		const id = (n.params as { threadId?: string | null }).threadId;
		if (!id || !this.members.peek().some((t) => t.id === id)) return;
		this.asking.get(id)?.items.notified(n);
		switch (n.method) {
			case "turn/completed":
				this.wait(id, false);
				this.report(id, n.params.turn);
				return;
			case "item/started":
			case "item/completed":
				if (n.params.item.type === "collabAgentToolCall" && n.params.item.tool === "wait") {
					this.wait(id, n.method === "item/started");
				}
				return;
			case "thread/tokenUsage/updated":
				this.price(id);
		}
	}

	private wait(id: string, waits: boolean): void {
		if (this.waiting.peek().has(id) === waits) return;
		const waiting = new Set(this.waiting.peek());
		if (waits) waiting.add(id);
		else waiting.delete(id);
		this.waiting.value = waiting;
	}

	/** price reads soon what a thread has spent. */
	private price(id: string): void {
		this.unpriced.add(id);
		this.pricing.start(() => {
			const ids = [...this.unpriced];
			this.unpriced.clear();
			for (const one of ids) void this.readSpent(one);
		});
	}

	private async readSpent(threadId: string): Promise<void> {
		const { call } = this.store.requests;
		const page = await call("thread/usage/list", { threadId, limit: maxRequests }).catch(() => null);
		if (!page) return;
		const money = page.nextCursor === null ? await this.prices.moneyOf(page.data) : null;
		this.spent.value = new Map(this.spent.peek()).set(threadId, { tokens: page.total.tokens.totalTokens, money });
	}
}

/** sumOf adds what threads have spent. The money is null if that of one is not known, or in another currency. */
export function sumOf(all: readonly Spent[]): Spent {
	const paid = all.filter((s) => s.tokens > 0);
	const currencies = new Set(paid.map((s) => s.money?.currency));
	const money = paid.length > 0 && paid.every((s) => s.money) && currencies.size === 1
		? { sum: paid.reduce((sum, s) => sum + s.money!.sum, 0), currency: paid[0]!.money!.currency } : null;
	return { tokens: all.reduce((sum, s) => sum + s.tokens, 0), money };
}
