// The draft of a compaction: what it replaces, its summary, and what the summary loses.

import { signal } from "@preact/signals";
import type { CompactionLoss, PruneRange, ServerNotification, ThreadCompactProposeResponse } from "../wire/types.ts";
import { CallError } from "../wire/connection.ts";
import type { ContextList } from "./context.ts";
import type { Requests } from "./requests.ts";

/** Strategy is a way to compact. */
export type Strategy = ThreadCompactProposeResponse["strategy"];

/** bytesPerToken is an estimate for a text that the user writes. */
const bytesPerToken = 4;

/** Watch calls a function with each notification about the thread. It returns a function that ends this. */
type Watch = (run: (n: ServerNotification) => void) => () => void;

/** CompactionDraft has one draft while its dialog is open. */
export class CompactionDraft {
	readonly draft = signal<ThreadCompactProposeResponse | null>(null);
	/** text is the summary as the user edits it. */
	readonly text = signal("");
	/** streamed is the summary so far, while the model writes. */
	readonly streamed = signal("");
	readonly writing = signal(false);
	readonly expired = signal(false);
	readonly failure = signal("");
	/** pinned are the items that stay: they are pinned before the compaction. */
	readonly pinned = signal<ReadonlySet<string>>(new Set());

	/** shown are the items of the loss that the user looks at. */
	readonly shown = signal<ReadonlySet<string>>(new Set());

	constructor(
		private readonly requests: Requests, private readonly context: Pick<ContextList, "items">,
		private readonly watch: Watch,
		private readonly strategy: Strategy, private readonly range: PruneRange | null,
	) {}

	/** propose requests a draft. It keeps a text that the user has edited. */
	async propose(strategy = this.strategy, keptText?: string): Promise<boolean> {
		this.writing.value = true;
		this.expired.value = false;
		this.failure.value = "";
		this.text.value = keptText ?? "";
		this.streamed.value = "";
		const stop = this.watch((n) => {
			if (n.method === "thread/compact/delta") this.streamed.value += n.params.delta;
		});
		try {
			const { call, threadId } = this.requests;
			const draft = await call("thread/compact/propose", { threadId, strategy, range: this.range });
			this.draft.value = draft;
			this.text.value = keptText ?? draft.summary;
			return true;
		} catch (error) {
			this.failure.value = (error as Error).message;
			return false;
		} finally {
			stop();
			this.writing.value = false;
		}
	}

	/** cancel stops the model, or drops the draft. */
	cancel(): void {
		const { call, threadId } = this.requests;
		if (this.draft.value || this.writing.value) void call("thread/compact/cancel", { threadId }).catch(() => undefined);
	}

	/** commit applies the draft. Pins change the context, so the draft is made again after them, without the model. */
	async commit(): Promise<boolean> {
		const text = this.text.value;
		const { call, threadId } = this.requests;
		try {
			if (this.pinned.value.size > 0) {
				await call("context/pin", { threadId, ids: [...this.pinned.value], pinned: true });
				if (!(await this.propose(this.draft.value?.strategy === "mask" ? "mask" : "local", text))) return false;
				this.pinned.value = new Set();
			}
			const draft = this.draft.value!;
			await call("thread/compact/commit", {
				draftId: draft.draftId, text: draft.strategy === "mask" || text === draft.summary ? null : text,
			});
			this.draft.value = null;
			return true;
		} catch (error) {
			this.expired.value = error instanceof CallError && error.kind === "draftExpired";
			this.failure.value = this.expired.value ? "" : (error as Error).message;
			return false;
		}
	}

	/** renew makes a draft of the context of now. The text stays. */
	async renew(): Promise<void> {
		await this.propose(this.draft.value?.strategy === "mask" ? "mask" : "local", this.text.value);
	}

	/** insertText adds a fact to the summary. */
	insertText(text: string): void {
		this.text.value = `${this.text.value.trimEnd()}\n- ${text}`;
	}

	/** show highlights the items of a loss, or ends that. */
	show(loss: CompactionLoss): void {
		this.shown.value = new Set(this.isShown(loss) ? [] : loss.itemIds);
	}

	/** isShown reports whether the items of a loss are highlighted. */
	isShown(loss: CompactionLoss): boolean {
		return loss.itemIds.length === this.shown.value.size && loss.itemIds.every((id) => this.shown.value.has(id));
	}

	/** togglePin pins the items of a loss, or unpins them. */
	togglePin(loss: CompactionLoss): void {
		const next = new Set(this.pinned.value);
		const all = loss.itemIds.every((id) => next.has(id));
		for (const id of loss.itemIds) {
			if (all) next.delete(id);
			else next.add(id);
		}
		this.pinned.value = next;
	}

	/** isCovered reports whether a loss is in the text by now, or all its items stay. */
	isCovered(loss: CompactionLoss): boolean {
		return this.text.value.includes(loss.text) || this.isPinned(loss);
	}

	/** isPinned reports whether all items of a loss stay. */
	isPinned(loss: CompactionLoss): boolean {
		return loss.itemIds.length > 0 && loss.itemIds.every((id) => this.pinned.value.has(id));
	}

	/** tokensAfter estimates the next request with the edited text. */
	get tokensAfter(): number {
		const draft = this.draft.value!;
		const bytes = (text: string) => new TextEncoder().encode(text).length;
		const items = this.context.items.value.filter((i) => this.pinned.value.has(i.id) && i.inPrompt);
		return draft.tokensAfter + Math.round((bytes(this.text.value) - bytes(draft.summary)) / bytesPerToken) +
			items.reduce((sum, i) => sum + i.tokens, 0);
	}
}
