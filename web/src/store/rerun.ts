// A past request that runs again in a fork, and both answers to it.

import { computed, signal } from "@preact/signals";
import type {
	ContextOperation, ModelRequestUsage, SandboxMode, ServerNotification, ThreadItem,
} from "../wire/types.ts";
import { Delay } from "../lib/delay.ts";
import { Newest } from "../lib/newest.ts";
import { PriceTable, readTurnRequests, type Money } from "./money.ts";
import type { Requests } from "./requests.ts";

/** Watch calls a function with each notification of the connection. It returns a function that ends this. */
type Watch = (run: (n: ServerNotification) => void) => () => void;

const readDelayMs = 200;

/** RunChoice is what the user chose for the run. */
export interface RunChoice {
	/** model is empty for the model of the request. */
	model: string;
	sandbox: SandboxMode;
	/** excluded are context items that the run leaves out, replaced are texts by the ids of items. */
	excluded: ReadonlySet<string>;
	replaced: ReadonlyMap<string, string>;
	/** name is the name of the fork. */
	name: string;
}

/** RunAnswer is what came of a request until the end of its turn. */
export interface RunAnswer {
	model: string;
	status: string;
	error: string;
	items: readonly ThreadItem[];
	requests: number;
	inputTokens: number;
	cachedTokens: number;
	outputTokens: number;
	money: Money | null;
	/** tookMs is the time from the request to the end of the last answer, or null if nothing is recorded. */
	tookMs: number | null;
}

/** editsOf returns the edits of a choice for context/apply. */
export function editsOf(c: Pick<RunChoice, "excluded" | "replaced">): ContextOperation[] {
	const edits: ContextOperation[] = [];
	if (c.excluded.size > 0) edits.push({ type: "setInclusion", ids: [...c.excluded], included: false });
	for (const [id, text] of c.replaced) if (!c.excluded.has(id)) edits.push({ type: "replace", id, text });
	return edits;
}

/** Rerun runs one request again. */
export class Rerun {
	/** forkId and turnId are those of the run, or empty before it. */
	readonly forkId = signal("");
	readonly turnId = signal("");
	readonly running = computed(() => this.turnId.value !== "" && this.after.value?.status === "inProgress");
	/** before is the answer of the past request, after that of the run. */
	readonly before = signal<RunAnswer | null>(null);
	readonly after = signal<RunAnswer | null>(null);
	/** streamed is the text that the model writes now. */
	readonly streamed = signal("");
	readonly failure = signal("");
	private readonly prices: PriceTable;
	private readonly delay = new Delay(readDelayMs);
	private readonly reads = new Newest();
	private readonly stop: () => void;

	constructor(
		private readonly thread: Requests, readonly request: ModelRequestUsage, watch: Watch,
		folder: () => string | undefined,
	) {
		this.prices = new PriceTable(thread, folder);
		this.stop = watch((n) => this.notified(n));
	}

	/** start makes the fork, edits its context, and sends the request. Without a run no fork stays behind. */
	async start(choice: RunChoice): Promise<void> {
		const { call, threadId } = this.thread;
		const { request } = this;
		const forked = await call("thread/fork", {
			threadId, beforeRequestId: request.requestId, excludeTurns: true, model: choice.model || request.model,
			modelProvider: request.provider, sandbox: choice.sandbox, approvalPolicy: "never",
		});
		const fork = forked.thread.id;
		try {
			await call("thread/name/set", { threadId: fork, name: choice.name });
			const edits = editsOf(choice);
			if (edits.length > 0) await call("context/apply", { threadId: fork, edits });
			this.forkId.value = fork;
			this.after.value = empty(choice.model || request.model);
			const started = await call("turn/start", { threadId: fork, input: [] });
			this.turnId.value = started.turn.id;
		} catch (error) {
			this.forkId.value = "";
			await call("thread/delete", { threadId: fork }).catch(() => undefined);
			throw error;
		}
		this.readAfter();
		await this.readBefore(fork);
	}

	/** readBefore reads the answer of the past request: the items of its turn that the fork does not have. */
	private async readBefore(fork: string): Promise<void> {
		const turnId = this.request.turnId!;
		try {
			const known = new Set((await this.items(fork, turnId)).map((i) => i.id));
			const requests = await readTurnRequests(this.thread, turnId);
			const at = requests.findIndex((r) => r.requestId === this.request.requestId);
			const items = (await this.items(this.thread.threadId, turnId)).filter((i) => !known.has(i.id));
			this.before.value = await this.answerOf(this.thread.threadId, turnId, items, requests.slice(0, at + 1));
		} catch (error) {
			this.before.value = { ...empty(this.request.model), status: "unknown", error: (error as Error).message };
		}
	}

	/** readAfter reads the answer of the run, soon after something of it changed. */
	private readAfter(): void {
		this.delay.start(() => void this.reads.run(async (isNewest) => {
			try {
				const [fork, turn] = [this.forkId.peek(), this.turnId.peek()];
				const requests = await readTurnRequests({ call: this.thread.call, threadId: fork }, turn);
				const answer = await this.answerOf(fork, turn, await this.items(fork, turn), requests);
				if (isNewest()) this.after.value = answer;
			} catch (error) {
				if (isNewest()) this.failure.value = (error as Error).message;
			}
		}));
	}

	private async items(threadId: string, turnId: string): Promise<ThreadItem[]> {
		const page = await this.thread.call("thread/items/list", { threadId, turnId, limit: 1000 });
		return page.data.map((e) => e.item);
	}

	private async answerOf(
		threadId: string, turnId: string, items: ThreadItem[], requests: ModelRequestUsage[],
	): Promise<RunAnswer> {
		const turns = await this.thread.call("thread/turns/list", { threadId, limit: 100, itemsView: "notLoaded" });
		const turn = turns.data.find((t) => t.id === turnId);
		const ends = requests.map((r) => r.startedAtMs + r.durationMs);
		const sum = (of: (r: ModelRequestUsage) => number | undefined) => requests.reduce((n, r) => n + (of(r) ?? 0), 0);
		return {
			model: requests[0]?.model ?? this.after.peek()?.model ?? this.request.model, status: turn?.status ?? "",
			error: turn?.error?.message ?? "", items, requests: requests.length,
			inputTokens: sum((r) => r.tokens?.inputTokens), cachedTokens: sum((r) => r.tokens?.cachedInputTokens),
			outputTokens: sum((r) => r.tokens?.outputTokens), money: await this.prices.moneyOf(requests),
			tookMs: requests.length > 0 ? Math.max(...ends) - Math.min(...requests.map((r) => r.startedAtMs)) : null,
		};
	}

	private notified(n: ServerNotification): void {
		const fork = this.forkId.peek();
		if (fork === "" || (n.params as { threadId?: string | null }).threadId !== fork) return;
		if (n.method === "item/agentMessage/delta") this.streamed.value += n.params.delta;
		if (n.method === "item/completed") this.streamed.value = "";
		if (["item/completed", "turn/completed", "thread/tokenUsage/updated"].includes(n.method) && this.turnId.peek() !== "") {
			this.readAfter();
		}
	}

	/** interrupt ends the run. */
	async interrupt(): Promise<void> {
		await this.thread.call("turn/interrupt", { threadId: this.forkId.peek(), turnId: this.turnId.peek() });
	}

	/** remove deletes the fork. */
	async remove(): Promise<void> {
		await this.thread.call("thread/delete", { threadId: this.forkId.peek() });
		this.forkId.value = "";
	}

	/** dispose ends the subscriptions. kept is set if the page shows the fork from now on. */
	dispose(kept: boolean): void {
		this.stop();
		this.delay.stop();
		this.reads.drop();
		const threadId = this.forkId.peek();
		if (threadId !== "" && !kept) void this.thread.call("thread/unsubscribe", { threadId }).catch(() => undefined);
	}
}

const empty = (model: string): RunAnswer => ({
	model, status: "inProgress", error: "", items: [], requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, money: null, tookMs: null,
});
