// One open thread. Its parts have its state; this file connects them with each other and with the server.

import { signal } from "@preact/signals";
import { CallError } from "../wire/connection.ts";
import { lasting } from "../wire/storage.ts";
import type { ServerNotification } from "../wire/types.ts";
import { Activity } from "./activity.ts";
import { AgentPlan } from "./agentplan.ts";
import { ContextList } from "./context.ts";
import { draftKey, MessageDraft } from "./draft.ts";
import { Edits } from "./edits.ts";
import { Find } from "./find.ts";
import { Items } from "./items.ts";
import { CompactionReports, reportsKey } from "./losses.ts";
import { Notices } from "./notices.ts";
import { EditPlan, planKey } from "./plan.ts";
import { Requests, type Caller } from "./requests.ts";
import { Reverts } from "./reverts.ts";
import { ThreadSettings } from "./settings.ts";
import { Suggestions } from "./suggestions.ts";
import { Turns } from "./turns.ts";

/** ThreadPhase is ready if the thread can be edited. A locked or archived one is read-only. */
export type ThreadPhase = "loading" | "ready" | "locked" | "archived" | "failed";

const readOnlyKinds: Record<string, ThreadPhase> = { threadLocked: "locked", threadArchived: "archived" };

/** forgetTexts removes the texts of a deleted thread from the browser. */
export function forgetTexts(threadId: string): void {
	for (const key of [draftKey(threadId), planKey(threadId), reportsKey(threadId)]) lasting.removeItem(key);
}

/** ThreadStore has the parts of one open thread. */
export class ThreadStore {
	readonly phase = signal<ThreadPhase>("loading");
	readonly failure = signal("");
	readonly notices = new Notices();
	readonly requests: Requests;
	readonly settings: ThreadSettings;
	readonly turns: Turns;
	readonly items: Items;
	readonly context: ContextList;
	readonly plan: EditPlan;
	readonly edits: Edits;
	readonly draft: MessageDraft;
	readonly find: Find;
	readonly suggestions: Suggestions;
	readonly reports: CompactionReports;
	readonly reverts: Reverts;
	readonly activity = new Activity();
	readonly agentPlan: AgentPlan;

	/** watchers receive each notification about the thread after the parts. */
	private readonly watchers = new Set<(n: ServerNotification) => void>();
	/** listeners receive each notification about other threads. */
	private readonly listeners = new Set<(n: ServerNotification) => void>();
	/** later has the parts of files that are loaded when they are first shown. */
	private readonly later = new Map<unknown, unknown>();
	private readonly disposers: (() => void)[];

	constructor(readonly id: string, caller: Caller) {
		const { notices } = this;
		const requests = this.requests = new Requests(id, caller, notices, () => void this.context.read());
		this.reports = new CompactionReports(reportsKey(id), lasting);
		this.settings = new ThreadSettings(requests);
		this.turns = new Turns(requests, notices, this.settings);
		this.items = new Items(requests, notices, this.reports.byPlace);
		this.context = new ContextList(requests, notices);
		this.plan = new EditPlan(requests, this.context, notices, lasting);
		this.edits = new Edits(requests, this.context, notices);
		this.draft = new MessageDraft(id, lasting);
		this.find = new Find(requests, this.items, notices);
		this.suggestions = new Suggestions(requests, this.context, notices);
		this.reverts = new Reverts(requests, notices, this.draft);
		this.agentPlan = new AgentPlan(requests, this.context);
		this.disposers = [this.suggestions.start(), this.plan.start()];
	}

	/** dispose ends what the parts started. */
	dispose(): void {
		for (const d of this.disposers) d();
		for (const part of this.later.values()) (part as { dispose?(): void }).dispose?.();
	}

	/** part returns the object of a class that belongs to this thread. It is made when it is first wanted. */
	part<T>(made: new (store: ThreadStore) => T): T {
		if (!this.later.has(made)) this.later.set(made, new made(this));
		return this.later.get(made) as T;
	}

	/** open subscribes to the thread and loads its end. It is called again after a reconnect. */
	async open(): Promise<void> {
		this.turns.retrying.value = "";
		try {
			await this.settings.resume();
			this.phase.value = "ready";
		} catch (error) {
			if (!(error instanceof CallError) || error.kind === "disconnected") throw error;
			this.failure.value = error.message;
			this.phase.value = readOnlyKinds[error.kind] ?? "failed";
			if (this.phase.value === "failed") return;
		}
		await Promise.all([this.items.loadEnd(), this.context.read(), this.settings.readConfig()]);
		const active = this.settings.thread.value?.status.type === "active";
		this.turns.current.value = active ? this.items.timeline.openTurn() : null;
		this.activity.resume(this.turns.current.value !== null);
		void this.agentPlan.restore(this.items.timeline.lastTurn(), !active);
		// The notification of the last turn was sent before.
		if (this.settings.suggestionsWanted && !active) void this.suggestions.refresh();
	}

	/** mark marks the items of the timeline that some context items belong to, instead of the former ones. */
	mark(contextIds: readonly string[]): void {
		const ids = new Set(contextIds);
		const items = this.context.items.value.filter((i) => ids.has(i.id));
		this.items.marked.value = new Set(items.flatMap((i) => (i.itemId ? [i.itemId] : [])));
	}

	/** watch calls a function with each notification about the thread. It returns a function that ends this. */
	watch(run: (n: ServerNotification) => void): () => void {
		this.watchers.add(run);
		return () => this.watchers.delete(run);
	}

	/** listen calls a function with each notification about other threads. */
	listen(run: (n: ServerNotification) => void): void {
		this.listeners.add(run);
	}

	/** overhear takes a notification about another thread, such as an agent of this one. */
	overhear(n: ServerNotification): void {
		for (const run of this.listeners) run(n);
	}

	/** apply takes a notification about this thread. */
	apply(n: ServerNotification): void {
		const { turns, items, settings, context, reports, suggestions, reverts, notices, activity, agentPlan } = this;
		for (const part of [turns, items, settings, context, reports, suggestions, reverts, notices, activity, agentPlan]) {
			part.notified(n);
		}
		for (const run of this.watchers) run(n);
	}
}
