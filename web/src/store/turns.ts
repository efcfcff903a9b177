// The turn in progress.

import { signal } from "@preact/signals";
import { CallError } from "../wire/connection.ts";
import { count, percent } from "../lib/format.ts";
import type {
	ContextGetUsageResponse, ContextUsage, ServerNotification, ThreadTokenUsage, UserInput,
} from "../wire/types.ts";
import { categoryName } from "../wire/contextwords.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";
import type { Overrides, ThreadSettings } from "./settings.ts";

/** slashWord matches a text whose first word looks like a slash command, and not like a path. */
const slashWord = /^\/[a-z][\w-]*(\s|$)/i;

const usagePrefix = "The next request has ";

/** usageText describes the next request: its size, and the categories that need most of it. */
function usageText({ promptTokens, modelContextWindow, byCategory }: ContextUsage): string {
	const share = modelContextWindow
		? ` of ${count(modelContextWindow)} (${percent(promptTokens / modelContextWindow)})` : "";
	const parts = byCategory.filter((c) => c.includedTokens > 0).sort((a, b) => b.includedTokens - a.includedTokens)
		.map((c) => `${categoryName(c.category)} ${count(c.includedTokens)}`);
	return `${usagePrefix}${count(promptTokens)} tokens${share}. By category: ${parts.join(" · ")}. The tab Context lists the items.`;
}

/** Attempt is the next attempt of a model request. at is its time, about, in Unix milliseconds. */
export interface Attempt {
	number: number;
	limit: number;
	at: number;
}

/** Turns starts, steers and interrupts the turns of one thread. */
export class Turns {
	/** current is the id of the turn in progress, or null. */
	readonly current = signal<string | null>(null);
	readonly tokens = signal<ThreadTokenUsage | null>(null);
	/** retrying is the error of a model request that the server sends again, or empty. */
	readonly retrying = signal("");
	/** attempt is the next attempt of that request, or null if the server names none. */
	readonly attempt = signal<Attempt | null>(null);

	constructor(
		private readonly requests: Requests, private readonly notices: Notices, private readonly settings: ThreadSettings,
	) {}

	/**
	 * submit sends what the user wrote: a command of the user's shell if it begins with !, or a slash command, or else a
	 * message with images. It refuses a text that looks like a slash command and is none.
	 */
	async submit(written: string, images: readonly { url: string }[], overrides: Overrides): Promise<void> {
		const { call, threadId } = this.requests;
		const text = written.trim();
		if (text.startsWith("!") && images.length === 0) {
			await call("thread/shellCommand", { threadId, command: text.slice(1).trim() });
			return;
		}
		if (images.length === 0 && slashWord.test(written)) {
			await this.execute(text);
			return;
		}
		const input: UserInput[] = images.map((i) => ({ type: "image", url: i.url }));
		if (text !== "") input.unshift({ type: "text", text });
		try {
			await this.send(input, overrides);
		} catch (error) { // such as a command after a space
			if (!(error instanceof CallError) || error.kind !== "slashCommand") throw error;
			await this.execute(text);
		}
	}

	/** execute runs a slash command. It shows the result of a command that changes nothing. */
	private async execute(text: string): Promise<void> {
		const { call, threadId } = this.requests;
		if ((await call("slashCommand/parse", { text })) === null) {
			const list = await call("slashCommand/list", {});
			throw new Error(`${text.split(/\s/)[0]} is no command, and nothing was sent. The commands are ` +
				`${list.map((c) => `/${c.name}`).join(", ")}. To send it as a message, begin with a space.`);
		}
		const { command, result } = await call("slashCommand/execute", { threadId, text });
		if (command !== "context") return;
		this.notices.replace("done", usageText((result as ContextGetUsageResponse).usage), usagePrefix);
	}

	/** send starts a turn with the input, or adds it to the turn in progress. */
	async send(input: UserInput[], overrides: Overrides = {}): Promise<void> {
		const turn = this.current.value;
		if (turn && (await this.steer(turn, input))) return;
		await this.requests.call("turn/start", { threadId: this.requests.threadId, input, ...overrides });
		this.settings.override(overrides);
	}

	/**
	 * retry starts a turn without input: the model gets the conversation as it is, with the message of the turn that
	 * failed and what that turn did. It shows a failure.
	 */
	async retry(): Promise<void> {
		await this.requests.edit((c, threadId) => c.call("turn/start", { threadId, input: [] }));
	}

	/** explain adds the reason of a decline to the turn of the question. */
	async explain(turn: string, text: string): Promise<void> {
		if (!(await this.steer(turn, [{ type: "text", text }]))) throw new Error("The turn has ended, and the reason was not sent.");
	}

	/** steer adds the input to a turn. It returns false if the turn has ended in the meantime. */
	private async steer(turn: string, input: UserInput[]): Promise<boolean> {
		try {
			await this.requests.call("turn/steer", { threadId: this.requests.threadId, input, expectedTurnId: turn });
			return true;
		} catch (error) {
			if (error instanceof CallError && (error.kind === "noActiveTurn" || error.kind === "turnMismatch")) return false;
			throw error;
		}
	}

	/** interrupt ends the turn in progress. */
	async interrupt(): Promise<void> {
		const turn = this.current.value;
		if (turn) await this.requests.call("turn/interrupt", { threadId: this.requests.threadId, turnId: turn });
	}

	/** notified follows the turns of the thread, and the requests to the model. */
	notified(n: ServerNotification): void {
		switch (n.method) {
			case "turn/started":
				this.current.value = n.params.turn.id;
				return;
			case "turn/completed":
				if (this.current.value === n.params.turn.id) this.current.value = null;
				this.retrying.value = "";
				return;
			case "item/started":
			case "item/completed":
				this.retrying.value = "";
				return;
			case "thread/tokenUsage/updated":
				this.tokens.value = n.params.tokenUsage;
				return;
			case "error":
				if (n.params.willRetry) {
					const { error, retry } = n.params;
					this.attempt.value = retry ? { number: retry.attempt, limit: retry.limit, at: Date.now() + retry.delayMs } : null;
					this.retrying.value = error.additionalDetails ?? error.message;
				}
				// Otherwise the turn's end shows it.
				else if (n.params.turnId !== this.current.value) this.notices.add("error", n.params.error.message);
				return;
		}
	}
}
