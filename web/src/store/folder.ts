// The folder of a new thread: facts from the server, and the permissions of the thread.

import { computed, signal } from "@preact/signals";
import { Delay } from "../lib/delay.ts";
import { Newest } from "../lib/newest.ts";
import type { AskForApproval, FolderInspectResponse, SandboxMode } from "../wire/types.ts";
import * as app from "./app.ts";

/** Trust is a decision about a folder. */
export type Trust = "trusted" | "untrusted";

const typingDelayMs = 80;
const maxRecent = 8;

/** recentFolders returns the folders of the listed threads, the latest first. */
export const recentFolders = (): string[] => [...new Set(app.threads.value.map((t) => t.cwd))].slice(0, maxRecent);

/** parentOf returns the folder above a path, with a separator at its end. */
export function parentOf(path: string): string {
	const names = path.replace(/[/\\]+$/, "");
	const at = Math.max(names.lastIndexOf("/"), names.lastIndexOf("\\"));
	return at < 0 ? path : names.slice(0, at + 1);
}

/** FolderChoice is the folder that the user chooses for a thread. */
export class FolderChoice {
	readonly path = signal("");
	/** facts are those of the path as it was read last, or null. */
	readonly facts = signal<FolderInspectResponse | null>(null);
	readonly sandbox = signal<SandboxMode | "">("");
	readonly policy = signal<"" | Extract<AskForApproval, string>>("");
	/** decided is the decision of the user about this folder, or null. */
	private readonly decided = signal<Trust | null>(null);
	/** factsPath is the path of the facts, or null. */
	private factsPath: string | null = null;
	private readonly reads = new Newest();
	private readonly delay = new Delay(typingDelayMs);

	/** trust is the decision that holds: the recorded one, or the user's. A folder without settings is trusted. */
	readonly trust = computed<Trust | null>(() => {
		const facts = this.facts.value;
		const chosen = this.decided.value ?? (facts?.trust as Trust | null | undefined) ?? null;
		return chosen ?? (facts && facts.projectFolders.length === 0 ? "trusted" : null);
	});

	/** undecided reports whether the user has to decide about the folder before a thread starts. */
	readonly undecided = computed(() => this.facts.value?.problem === null && this.trust.value === null);

	constructor(path: string) {
		this.path.value = path;
		void this.read();
	}

	/** type takes the text that the user typed, and reads the facts soon. */
	type(path: string): void {
		this.path.value = path;
		this.delay.start(() => void this.read());
	}

	/** choose takes a path, and reads the facts at once. */
	choose(path: string): void {
		this.path.value = path;
		void this.readNow();
	}

	/** readNow reads the facts instead of later. */
	private readNow(): Promise<void> {
		this.delay.stop();
		return this.read();
	}

	/** decide takes the decision of the user about the folder. */
	decide(trust: Trust): void {
		this.decided.value = trust;
	}

	private read(): Promise<void> {
		return this.reads.run(async (isNewest) => {
			const path = this.path.value.trim();
			const facts = await app.attempt((c) => c.call("folder/inspect", { path }));
			if (!isNewest()) return;
			if (facts?.trustFolder !== this.facts.value?.trustFolder) this.decided.value = null;
			this.facts.value = facts;
			this.factsPath = path;
		});
	}

	/**
	 * start records the decision of the user, and starts a thread in the folder. It returns false if that failed, or if
	 * the user has to decide first. It rejects if no thread can start in the folder.
	 */
	async start(): Promise<boolean> {
		if (this.factsPath !== this.path.value.trim()) await this.readNow();
		const facts = this.facts.value;
		if (facts?.problem) throw new Error(facts.problem);
		if (!facts || this.trust.value === null) return false;
		if (facts.trust !== this.trust.value && !(await this.record(facts))) return false;
		return app.create({
			cwd: facts.path,
			...(this.sandbox.value ? { sandbox: this.sandbox.value } : {}),
			...(this.policy.value ? { approvalPolicy: this.policy.value } : {}),
		});
	}

	private async record(facts: FolderInspectResponse): Promise<boolean> {
		const keyPath = `projects.${JSON.stringify(facts.trustFolder)}.trust_level`;
		const done = await app.attempt((c) =>
			c.call("config/value/write", { keyPath, value: this.trust.value, mergeStrategy: "upsert" }));
		return done !== null;
	}
}
