// What the agent does now: the sign of life while nothing else on the page moves.

import { signal } from "@preact/signals";
import type { ServerNotification, ThreadItem } from "../wire/types.ts";

/** charsPerToken converts streamed text to tokens, about. Providers report the tokens after the answer. */
const charsPerToken = 4;

/** Doing is the step of the turn. tokens are those of the streamed text, about, or 0. */
export interface Doing {
	what: string;
	/** since is in Unix milliseconds. */
	since: number;
	tokens: number;
}

const calls: Partial<Record<ThreadItem["type"], string>> = {
	commandExecution: "Running a command", fileChange: "Changing files", mcpToolCall: "Calling a tool",
	dynamicToolCall: "Calling a tool", webSearch: "Searching the web", contextCompaction: "Compacting the context",
	collabAgentToolCall: "Working with agents",
};

/** Activity follows the turn in progress of one thread. */
export class Activity {
	/** doing is null between turns. */
	readonly doing = signal<Doing | null>(null);
	/** running has what the calls in progress do, by item. */
	private readonly running = new Map<string, string>();
	private chars = 0;
	/** grownAt is when the count was shown last, in Unix milliseconds. */
	private grownAt = 0;

	/** resume begins with a turn that is in progress when the thread is opened, or with none. */
	resume(active: boolean): void {
		this.running.clear();
		if (active) this.begin("Working");
		else this.doing.value = null;
	}

	/** notified follows the items of the turn, and their pieces. */
	notified(n: ServerNotification): void {
		switch (n.method) {
			case "turn/started":
				this.running.clear();
				this.begin("Thinking");
				return;
			case "turn/completed":
				this.doing.value = null;
				return;
			case "item/started": {
				const { item } = n.params;
				const what = calls[item.type];
				if (what) this.running.set(item.id, what);
				this.begin(what ?? (item.type === "agentMessage" || item.type === "plan" ? "Writing" : "Thinking"));
				return;
			}
			case "item/completed":
				this.running.delete(n.params.item.id);
				this.begin([...this.running.values()].at(-1) ?? "Thinking");
				return;
			case "turn/promptProgress": {
				const { processedTokens, totalTokens } = n.params;
				this.show("Reading the prompt", processedTokens, processedTokens >= totalTokens);
				return;
			}
			case "item/agentMessage/delta":
			case "item/plan/delta":
				this.grow("Writing", n.params.delta);
				return;
			case "item/reasoning/textDelta":
			case "item/reasoning/summaryTextDelta":
				this.grow("Thinking", n.params.delta);
		}
	}

	private begin(what: string): void {
		this.chars = 0;
		if (this.doing.peek()?.what === what && this.doing.peek()?.tokens === 0) return;
		this.doing.value = { what, since: Date.now(), tokens: 0 };
	}

	/** grow counts a piece. The count is shown once a second, because each one would lay the page out again. */
	private grow(what: string, delta: string): void {
		this.chars += delta.length;
		const shown = this.doing.peek();
		if (shown?.what === what && shown.tokens > 0 && Date.now() - this.grownAt < 1000) return;
		this.grownAt = Date.now();
		this.show(what, Math.ceil(this.chars / charsPerToken), false);
	}

	private show(what: string, tokens: number, over: boolean): void {
		const now = this.doing.peek();
		if (!now) return;
		this.doing.value = over ? { what: "Thinking", since: Date.now(), tokens: 0 }
			: { what, since: now.what === what ? now.since : Date.now(), tokens };
	}
}
