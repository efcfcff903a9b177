// The settings of a thread: its name and folder, the ones of its turns, and the configuration of its folder.

import { signal } from "@preact/signals";
import type { ServerNotification, Thread, ThreadResumeResponse, TurnStartParams } from "../wire/types.ts";
import { messageText } from "./items.ts";
import type { Requests } from "./requests.ts";

/** Overrides are the settings that a turn changes for itself and for later turns. */
export type Overrides = Pick<TurnStartParams, "model" | "effort" | "approvalPolicy" | "collaborationMode">;

/** Compaction has limits of automatic compaction. limitTokens is null without a limit in tokens, and 0 turns it off. */
export interface Compaction {
	limitTokens: number | null;
	limitShare: number;
	targetShare: number;
}

/** ThreadSettings has the settings of one thread, as the server reported them last. */
export class ThreadSettings {
	readonly thread = signal<Thread | null>(null);
	readonly resumed = signal<ThreadResumeResponse | null>(null);
	readonly planMode = signal(false);
	/** compaction has the shares of the window at which the server compacts, and to which. */
	readonly compaction = signal<Compaction>({ limitTokens: null, limitShare: 0.9, targetShare: 0.7 });
	/** suggestionsWanted reports whether the server notifies of suggestions. */
	suggestionsWanted = false;

	constructor(private readonly requests: Requests) {}

	/** resume subscribes to the thread and reads its settings. */
	async resume(): Promise<void> {
		const resumed = await this.requests.call("thread/resume", { threadId: this.requests.threadId, excludeTurns: true });
		this.resumed.value = resumed;
		this.thread.value = resumed.thread;
		this.planMode.value = resumed.collaborationMode?.mode === "plan";
	}

	/** readConfig reads the configuration of the thread's folder. Without it the defaults hold. */
	async readConfig(): Promise<void> {
		const cwd = this.thread.value?.cwd;
		const read = await this.requests.call("config/read", cwd ? { cwd } : {}).catch(() => null);
		if (!read) return;
		const { economy } = (read.config["context"] ?? {}) as { economy?: { mode?: string } };
		this.suggestionsWanted = economy?.mode === "suggest";
		const section = read.config["compaction"] as { limit_percent?: number; target_percent?: number } | undefined;
		const tokens = read.config["model_auto_compact_token_limit"];
		this.compaction.value = {
			limitTokens: typeof tokens === "number" ? tokens : null,
			limitShare: (section?.limit_percent ?? 90) / 100, targetShare: (section?.target_percent ?? 70) / 100,
		};
	}

	/** override takes the settings of a turn that started. Later turns keep them. */
	override({ model, effort, approvalPolicy, collaborationMode }: Overrides): void {
		const settings = this.resumed.value;
		if (settings) {
			this.resumed.value = {
				...settings, model: model ?? settings.model, reasoningEffort: effort ?? settings.reasoningEffort,
				approvalPolicy: approvalPolicy ?? settings.approvalPolicy,
			};
		}
		if (collaborationMode) this.planMode.value = collaborationMode.mode === "plan";
	}

	/** notified takes the name and the status of the thread, and its preview from its first message. */
	notified(n: ServerNotification): void {
		const thread = this.thread.value;
		if (!thread) return;
		if (n.method === "thread/name/updated") this.thread.value = { ...thread, name: n.params.threadName ?? null };
		if (n.method === "thread/status/changed") this.thread.value = { ...thread, status: n.params.status };
		if (n.method === "item/completed" && n.params.item.type === "userMessage" && thread.preview === "") {
			this.thread.value = { ...thread, preview: messageText(n.params.item) };
		}
	}
}
