// The draft of a compaction: what it replaces, its summary, and what the summary loses.

import { signal } from "@preact/signals";
import type { CompactionLoss, PruneRange, ThreadCompactProposeResponse } from "../wire/types.ts";
import { CallError } from "../wire/connection.ts";
import type { ThreadStore } from "./thread.ts";

export type Strategy = ThreadCompactProposeResponse["strategy"];

/** bytesPerToken is an estimate for a text that the user writes. */
const bytesPerToken = 4;

export class CompactionDraft {
	readonly draft = signal<ThreadCompactProposeResponse | null>(null);
	/** text is the summary as the user edits it. While the model writes, it is the text so far. */
	readonly text = signal("");
	readonly writing = signal(false);
	readonly expired = signal(false);
	readonly failure = signal("");
	/** pinned are the items that stay: they are pinned before the compaction. */
	readonly pinned = signal<ReadonlySet<string>>(new Set());

	/** shown are the items of the loss that the user looks at. */
	readonly shown = signal<ReadonlySet<string>>(new Set());

	constructor(private readonly store: ThreadStore, private readonly strategy: Strategy, private readonly range: PruneRange | null) {}

	/** propose requests a draft. It keeps a text that the user has edited. */
	async propose(strategy = this.strategy, keptText?: string): Promise<boolean> {
		this.writing.value = true;
		this.expired.value = false;
		this.failure.value = "";
		this.text.value = keptText ?? "";
		this.store.draftText.value = "";
		try {
			const draft = await this.store.call("thread/compact/propose", { threadId: this.store.id, strategy, range: this.range });
			this.draft.value = draft;
			this.text.value = keptText ?? draft.summary;
			return true;
		} catch (error) {
			this.failure.value = (error as Error).message;
			return false;
		} finally {
			this.writing.value = false;
		}
	}

	/** cancel stops the model, or drops the draft. */
	cancel(): void {
		if (this.draft.value || this.writing.value) void this.store.call("thread/compact/cancel", { threadId: this.store.id }).catch(() => undefined);
	}

	/** commit applies the draft. Pins change the context, so the draft is made again after them, without the model. */
	async commit(): Promise<boolean> {
		const text = this.text.value;
		try {
			if (this.pinned.value.size > 0) {
				await this.store.call("context/pin", { threadId: this.store.id, ids: [...this.pinned.value], pinned: true });
				if (!(await this.propose(this.draft.value?.strategy === "mask" ? "mask" : "local", text))) return false;
				this.pinned.value = new Set();
			}
			const draft = this.draft.value!;
			await this.store.call("thread/compact/commit", {
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

	insertText(text: string): void {
		this.text.value = `${this.text.value.trimEnd()}\n- ${text}`;
	}

	/** show highlights the items of a loss, or ends that. */
	show(loss: CompactionLoss): void {
		this.shown.value = new Set(this.isShown(loss) ? [] : loss.itemIds);
	}

	isShown(loss: CompactionLoss): boolean {
		return loss.itemIds.length === this.shown.value.size && loss.itemIds.every((id) => this.shown.value.has(id));
	}

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

	isPinned(loss: CompactionLoss): boolean {
		return loss.itemIds.length > 0 && loss.itemIds.every((id) => this.pinned.value.has(id));
	}

	/** tokensAfter estimates the next request with the edited text. */
	get tokensAfter(): number {
		const draft = this.draft.value!;
		const bytes = (text: string) => new TextEncoder().encode(text).length;
		const items = this.store.context.items.value.filter((i) => this.pinned.value.has(i.id) && i.inPrompt);
		return draft.tokensAfter + Math.round((bytes(this.text.value) - bytes(draft.summary)) / bytesPerToken) +
			items.reduce((sum, i) => sum + i.tokens, 0);
	}
}
