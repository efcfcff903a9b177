// One open thread: its entries, its context and the turn in progress.

import { computed, effect, signal } from "@preact/signals";
import type {
	ServerNotification, Thread, ThreadItem, ThreadResumeResponse, ThreadTimelineListResponse, ThreadTokenUsage,
	TimelineItem, TurnStartParams, UserInput,
} from "../wire/types.ts";
import { CallError, type Connection } from "../wire/connection.ts";
import { ContextList, merge, operationsOf, rebase, type Change, type Plan } from "./context.ts";
import { Timeline, visibleEntries, type Entry } from "./timeline.ts";
import type { ContextPreviewResponse } from "../wire/types.ts";
import { Find } from "./find.ts";
import { messageText, Reverts } from "./reverts.ts";
import { CompactionReports, reportsKey } from "./losses.ts";
import { Suggestions } from "./suggestions.ts";

const pageSize = 100;
const contextPage = 2000;
/** textLimit is the number of characters of a text that a page of the timeline has. */
const textLimit = 20_000;
const previewDelayMs = 150;
/** maxReads is the number of attempts to read a list that changes meanwhile. */
const maxReads = 5;
/** trimEdits are the edits that make a trim point, or give it a summary. */
const trimEdits = new Set(["trim", "compact", "summarize"]);

/** ThreadPhase is ready if the thread can be edited. A locked or archived one is read-only. */
export type ThreadPhase = "loading" | "ready" | "locked" | "archived" | "failed";

const readOnlyKinds: Record<string, ThreadPhase> = { threadLocked: "locked", threadArchived: "archived" };

/** Overrides are the settings that a turn changes for itself and for later turns. */
export type Overrides = Pick<TurnStartParams, "model" | "effort" | "approvalPolicy" | "collaborationMode">;

/** Compaction has limits of automatic compaction. limitTokens is null without a limit in tokens, and 0 turns it off. */
export interface Compaction {
	limitTokens: number | null;
	limitShare: number;
	targetShare: number;
}

/** Notice is a warning or an error about the thread, until the user closes it. */
export interface Notice {
	id: number;
	kind: "warning" | "error" | "done";
	text: string;
}

let nextNotice = 1;

export class ThreadStore {
	readonly phase = signal<ThreadPhase>("loading");
	readonly failure = signal("");
	readonly thread = signal<Thread | null>(null);
	readonly settings = signal<ThreadResumeResponse | null>(null);
	readonly timeline = new Timeline();
	readonly context = new ContextList();
	readonly turn = signal<string | null>(null);
	readonly tokens = signal<ThreadTokenUsage | null>(null);
	readonly notices = signal<readonly Notice[]>([]);
	/** retrying is the error of a model request that the server sends again, or empty. */
	readonly retrying = signal("");
	readonly openSections = signal<ReadonlySet<string>>(new Set());
	/** marked are the items of the timeline that the edit under the pointer changed. */
	readonly marked = signal<ReadonlySet<string>>(new Set());
	/** draftText is the summary that the model writes for the draft of a compaction. */
	readonly draftText = signal("");
	readonly planMode = signal(false);
	/** outputs has what background commands printed since the page was opened, by item. The timeline has the others. */
	readonly outputs = signal<ReadonlyMap<string, string>>(new Map());
	readonly find: Find;
	readonly suggestions: Suggestions;
	readonly reports: CompactionReports;
	readonly reverts: Reverts;
	readonly rows = computed<readonly Entry[]>(() => {
		void this.timeline.changed.value;
		return visibleEntries(this.timeline.entries, this.openSections.value, this.reports.byPlace.value);
	});

	/** compaction has the shares of the window at which the server compacts, and to which. */
	readonly compaction = signal<Compaction>({ limitTokens: null, limitShare: 0.9, targetShare: 0.7 });

	readonly plan = signal<Plan>(new Map());
	readonly direct = signal(localStorage.getItem("appserver.direct") === "true");
	readonly preview = signal<ContextPreviewResponse | null>(null);
	readonly previewError = signal("");
	readonly applying = signal(false);

	/** watchers receive each notification about the thread after the store. */
	private readonly watchers = new Set<(n: ServerNotification) => void>();
	private loadingPage = false;
	/** retracing ends after the last undo or redo. retraced is the revision that it made. */
	private retracing: Promise<void> = Promise.resolve();
	private retraced = 0;
	/** suggestionsWanted reports whether the server notifies of suggestions. */
	private suggestionsWanted = false;
	private previewTimer = 0;
	private disposers: (() => void)[] = [];

	constructor(readonly id: string, private readonly connection: Connection) {
		this.find = new Find(this);
		this.suggestions = new Suggestions(this);
		this.reverts = new Reverts(this);
		this.reports = new CompactionReports(reportsKey(id), localStorage);
		this.restorePlan();
		this.disposers.push(this.suggestions.start());
		this.disposers.push(effect(() => {
			const plan = this.plan.value;
			void this.context.revision.value;
			this.savePlan(plan);
			this.schedulePreview(plan);
		}));
	}

	dispose(): void {
		for (const d of this.disposers) d();
		clearTimeout(this.previewTimer);
	}

	/** open subscribes to the thread and loads its end. It is called again after a reconnect. */
	async open(): Promise<void> {
		this.retrying.value = "";
		try {
			const resumed = await this.connection.call("thread/resume", { threadId: this.id, excludeTurns: true });
			this.settings.value = resumed;
			this.thread.value = resumed.thread;
			this.planMode.value = resumed.collaborationMode?.mode === "plan";
			this.phase.value = "ready";
		} catch (error) {
			if (!(error instanceof CallError) || error.kind === "disconnected") throw error;
			this.failure.value = error.message;
			this.phase.value = readOnlyKinds[error.kind] ?? "failed";
			if (this.phase.value === "failed") return;
		}
		await Promise.all([this.loadEnd(), this.loadContext(), this.loadConfig()]);
		const active = this.thread.value?.status.type === "active";
		this.turn.value = active ? this.timeline.openTurn() : null;
		if (this.suggestionsWanted && !active) void this.suggestions.refresh(); // the notification of the last turn was sent before
	}

	/** loadEnd replaces the entries by the newest page. */
	async loadEnd(): Promise<void> {
		await this.loadPage({}, (page) => this.timeline.reset(page));
	}

	/** loadOlder adds the next older page. */
	async loadOlder(): Promise<void> {
		const edge = this.timeline.older;
		if (edge) await this.loadPage(edge, (page) => this.timeline.prepend(page));
	}

	/** loadNewer adds the next newer page, if the end of the thread is not loaded. */
	async loadNewer(): Promise<void> {
		const edge = this.timeline.newer;
		if (!edge) return;
		await this.loadPage("cursor" in edge ? { from: edge.cursor } : edge, (page) => this.timeline.extend(page));
	}

	/** loadPage reads a page, unless one is being read. */
	private async loadPage(
		where: { cursor?: string; from?: string; around?: string; turnId?: string }, take: (page: ThreadTimelineListResponse) => void,
	): Promise<void> {
		if (this.loadingPage) return;
		this.loadingPage = true;
		try {
			take(await this.connection.call("thread/timeline/list", { threadId: this.id, limit: pageSize, textLimit, ...where }));
		} catch (error) {
			this.report(error);
		} finally {
			this.loadingPage = false;
		}
	}

	/** readItem replaces the short form of an item by the whole item. */
	async readItem(entry: Entry): Promise<void> {
		if (entry.data.type !== "item") return;
		try {
			const item = await this.wholeItem(entry.data);
			entry.whole = true;
			this.timeline.put({ ...entry.data, item, truncated: false });
		} catch (error) {
			this.report(error);
		}
	}

	/** wholeItem returns an item with its whole texts. Pages of the timeline cut long ones. */
	async wholeItem({ turnId, item, truncated }: TimelineItem): Promise<ThreadItem> {
		if (!truncated) return item;
		return (await this.connection.call("thread/item/read", { threadId: this.id, turnId, itemId: item.id })).item;
	}

	/** lastMessage returns the whole text of the user's last message, or "". */
	async lastMessage(): Promise<string> {
		const isMessage = (d: Entry["data"]) => d.type === "item" && d.item.type === "userMessage";
		const loaded = this.timeline.newer === null ? this.timeline.entries.findLast((e) => isMessage(e.data)) : undefined;
		if (loaded?.data.type === "item") {
			const item = await this.wholeItem(loaded.data);
			return item.type === "userMessage" ? messageText(item) : "";
		}
		const page = await this.connection.call("thread/turns/list", { threadId: this.id, itemsView: "summary" });
		for (const item of page.data.flatMap((t) => t.items)) if (item.type === "userMessage") return messageText(item);
		return "";
	}

	/**
	 * readText returns the whole text that the model gets of a context item, or its original text if the model does not get
	 * it, and the number of parts that are no text.
	 */
	async readText(id: string): Promise<{ text: string; others: number }> {
		const { item, sent, original } = await this.connection.call("context/readItem", { threadId: this.id, id });
		const parts = item.included && sent ? sent : original; // what is sent of an excluded item is a placeholder
		const texts = parts.filter((p) => p.type === "text");
		return { text: texts.map((p) => p.text ?? "").join("\n"), others: parts.length - texts.length };
	}

	/** loadContext reads the whole list of context items. If it changes between two pages, it is read again. */
	async loadContext(): Promise<void> {
		try {
			let pages = await this.readContext();
			for (let i = 1; i < maxReads && pages.some((p) => p.revision !== pages[0]!.revision); i++) pages = await this.readContext();
			this.context.load(pages);
			this.rebasePlan();
		} catch (error) {
			this.report(error);
		}
	}

	private async readContext() {
		const pages = [];
		let cursor: string | null = null;
		do {
			const page: Awaited<ReturnType<typeof this.getItems>> = await this.getItems(cursor);
			pages.push(page);
			cursor = page.nextCursor;
		} while (cursor !== null);
		return pages;
	}

	/** loadConfig reads the limits of automatic compaction, and whether suggestions are wanted. Without them the defaults hold. */
	private async loadConfig(): Promise<void> {
		const cwd = this.thread.value?.cwd;
		const read = await this.connection.call("config/read", cwd ? { cwd } : {}).catch(() => null);
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

	private getItems(cursor: string | null) {
		return this.connection.call("context/getItems", { threadId: this.id, cursor, limit: contextPage });
	}

	/** watch calls a function with each notification about the thread. It returns a function that ends this. */
	watch(run: (n: ServerNotification) => void): () => void {
		this.watchers.add(run);
		return () => this.watchers.delete(run);
	}

	/** apply takes a notification about this thread. */
	apply(n: ServerNotification): void {
		this.take(n);
		this.reverts.notified(n);
		for (const run of this.watchers) run(n);
	}

	private take(n: ServerNotification): void {
		switch (n.method) {
			case "turn/started":
				this.turn.value = n.params.turn.id;
				this.timeline.put({
					type: "turnStarted", position: -1, turnId: n.params.turn.id, startedAt: n.params.turn.startedAt, trimmed: false,
				});
				return;
			case "turn/completed": {
				const t = n.params.turn;
				if (this.turn.value === t.id) this.turn.value = null;
				this.retrying.value = "";
				this.timeline.put({
					type: "turnCompleted", position: -1, turnId: t.id, status: t.status, error: t.error, startedAt: t.startedAt,
					completedAt: t.completedAt, durationMs: t.durationMs, trimmed: false,
				});
				this.suggestions.outdate();
				return;
			}
			case "item/started":
			case "item/completed":
				this.retrying.value = "";
				this.timeline.put({ type: "item", position: -1, turnId: n.params.turnId, item: n.params.item, trimmed: false });
				return;
			case "thread/tokenUsage/updated":
				this.tokens.value = n.params.tokenUsage;
				return;
			case "ContextItems":
				if (this.context.apply(n.params)) this.rebasePlan();
				else void this.loadContext();
				return;
			case "ContextSuggestions":
				this.suggestions.take(n.params);
				return;
			case "thread/compacted":
				this.reports.compacted(n.params);
				return;
			case "thread/trimPoint/created":
				this.reports.trimmed(n.params.trimPoint);
				void this.loadEnd();
				return;
			case "thread/trimPoint/removed":
			case "thread/context/summarized":
				void this.loadEnd();
				return;
			case "thread/reverted":
				this.timeline.settle();
				void this.loadEnd();
				return;
			case "thread/name/updated":
				if (this.thread.value) this.thread.value = { ...this.thread.value, name: n.params.threadName ?? null };
				return;
			case "thread/status/changed":
				if (this.thread.value) this.thread.value = { ...this.thread.value, status: n.params.status };
				return;
			case "thread/compact/delta":
				this.draftText.value += n.params.delta;
				return;
			case "warning":
				this.notice("warning", n.params.message);
				return;
			case "error":
				if (n.params.willRetry) this.retrying.value = n.params.error.additionalDetails ?? n.params.error.message;
				else if (n.params.turnId !== this.turn.value) this.notice("error", n.params.error.message); // otherwise the turn's end shows it
				return;
			default:
				this.applyDelta(n);
		}
	}

	private applyDelta(n: ServerNotification): void {
		const edit = (p: { turnId: string; itemId: string }, change: (i: ThreadItem) => void) =>
			this.timeline.edit(p.turnId, p.itemId, change);
		switch (n.method) {
			case "item/agentMessage/delta":
			case "item/plan/delta":
				edit(n.params, (i) => {
					if (i.type === "agentMessage" || i.type === "plan") i.text += n.params.delta;
				});
				return;
			case "item/reasoning/summaryTextDelta":
				edit(n.params, (i) => {
					if (i.type === "reasoning") i.summary[n.params.summaryIndex] = (i.summary[n.params.summaryIndex] ?? "") + n.params.delta;
				});
				return;
			case "item/reasoning/textDelta":
				edit(n.params, (i) => {
					if (i.type === "reasoning") i.content[n.params.contentIndex] = (i.content[n.params.contentIndex] ?? "") + n.params.delta;
				});
				return;
			case "item/commandExecution/outputDelta":
				if (!this.timeline.item(n.params.turnId, n.params.itemId)) this.collect(n.params.itemId, n.params.delta);
				edit(n.params, (i) => {
					if (i.type === "commandExecution") i.aggregatedOutput = (i.aggregatedOutput ?? "") + n.params.delta;
				});
				return;
		}
	}

	/** collect keeps the end of the output of a background command that pages of the timeline do not have yet. */
	private collect(itemId: string, delta: string): void {
		const output = (this.outputs.peek().get(itemId) ?? "") + delta;
		this.outputs.value = new Map(this.outputs.peek()).set(itemId, output.slice(-textLimit));
	}

	/** send starts a turn with the input, or adds it to the turn in progress. */
	async send(input: UserInput[], overrides: Overrides = {}): Promise<void> {
		const turn = this.turn.value;
		if (turn && (await this.steer(turn, input))) return;
		await this.connection.call("turn/start", { threadId: this.id, input, ...overrides });
		const { model, effort, approvalPolicy, collaborationMode } = overrides; // later turns keep them
		const settings = this.settings.value;
		if (settings) {
			this.settings.value = {
				...settings, model: model ?? settings.model, reasoningEffort: effort ?? settings.reasoningEffort,
				approvalPolicy: approvalPolicy ?? settings.approvalPolicy,
			};
		}
		if (collaborationMode) this.planMode.value = collaborationMode.mode === "plan";
	}

	/** steer adds the input to a turn. It returns false if the turn has ended in the meantime. */
	private async steer(turn: string, input: UserInput[]): Promise<boolean> {
		try {
			await this.connection.call("turn/steer", { threadId: this.id, input, expectedTurnId: turn });
			return true;
		} catch (error) {
			if (error instanceof CallError && (error.kind === "noActiveTurn" || error.kind === "turnMismatch")) return false;
			throw error;
		}
	}

	/** load loads the page around an item, and opens its section. It returns false if there is no such item. */
	async load(itemId: string, turnId: string): Promise<boolean> {
		if (this.timeline.indexOfItem(itemId) < 0) await this.loadPage({ around: itemId, turnId }, (page) => this.timeline.reset(page));
		if (this.timeline.indexOfItem(itemId) < 0) return false;
		const trimPoint = this.timeline.sectionOf(itemId);
		if (trimPoint !== null && !this.openSections.value.has(trimPoint)) this.toggleSection(trimPoint);
		return true;
	}

	async interrupt(): Promise<void> {
		const turn = this.turn.value;
		if (turn) await this.connection.call("turn/interrupt", { threadId: this.id, turnId: turn });
	}

	toggleSection(trimPointId: string): void {
		const next = new Set(this.openSections.value);
		if (!next.delete(trimPointId)) next.add(trimPointId);
		this.openSections.value = next;
	}

	// Edits of the context.

	/** change plans a change of some items, or applies it at once in direct mode. */
	async change(ids: readonly string[], change: Change): Promise<void> {
		if (this.direct.value) await this.commit(this.withChange(new Map(), ids, change));
		else this.addToPlan(ids, change);
	}

	/** addToPlan plans a change of some items, in direct mode too. */
	addToPlan(ids: readonly string[], change: Change): void {
		this.plan.value = this.withChange(this.plan.value, ids, change);
	}

	private withChange(plan: Plan, ids: readonly string[], change: Change): Plan {
		const items = new Map(this.context.items.value.map((i) => [i.id, i]));
		for (const id of ids) {
			const item = items.get(id);
			if (item) plan = merge(plan, item, change);
		}
		return plan;
	}

	setDirect(direct: boolean): void {
		localStorage.setItem("appserver.direct", String(direct));
		this.direct.value = direct;
	}

	discard(): void {
		this.plan.value = new Map();
	}

	/** applyPlan applies all planned changes as one edit. */
	async applyPlan(when: "now" | "turnEnd" = "now"): Promise<void> {
		await this.commit(this.plan.value, when);
	}

	private async commit(plan: Plan, when: "now" | "turnEnd" = "now"): Promise<void> {
		const edits = operationsOf(plan);
		if (edits.length === 0) return;
		this.applying.value = true;
		try {
			const done = await this.connection.call("context/apply", {
				threadId: this.id, edits, expectedRevision: this.context.revision.value, when,
			});
			this.plan.value = new Map();
			if (!done.applied) this.notice("done", "The changes apply when the turn ends.");
		} catch (error) {
			if (error instanceof CallError && error.kind === "staleRevision") {
				await this.loadContext();
				this.notice("warning", "The context changed in the meantime. The plan was adapted: check it and apply it again.");
			} else {
				this.report(error);
			}
		} finally {
			this.applying.value = false;
		}
	}

	/** call sends a request. The caller handles its failure. */
	get call(): Connection["call"] {
		return this.connection.call.bind(this.connection) as Connection["call"];
	}

	/** edit runs an edit of the context that is not part of a plan. */
	async edit(run: (c: Connection, threadId: string) => Promise<unknown>): Promise<boolean> {
		try {
			await run(this.connection, this.id);
			return true;
		} catch (error) {
			if (error instanceof CallError && (error.kind === "staleRevision" || error.kind === "staleTurn")) {
				void this.loadContext();
				this.notice("error", "The thread changed in the meantime, and nothing was done. Look at it, and try again.");
			} else {
				this.report(error);
			}
			return false;
		}
	}

	/** undo undoes the last edit that this page knows, and no later one of another client. */
	undo(): Promise<void> {
		return this.retrace("context/undo");
	}

	/** redo redoes the edit that was undone last. */
	redo(): Promise<void> {
		return this.retrace("context/redo");
	}

	/** retrace sends one request after the other, because each has the revision that the former made. */
	private retrace(method: "context/undo" | "context/redo"): Promise<void> {
		this.retracing = this.retracing.then(async () => {
			await this.edit(async (c, threadId) => {
				const expectedRevision = Math.max(this.context.revision.value, this.retraced);
				this.retraced = (await c.call(method, { threadId, expectedRevision })).revision;
			});
		});
		return this.retracing;
	}

	/** undoTrim undoes the last edit if it made a trim point or its summary. Otherwise it undoes nothing. */
	async undoTrim(): Promise<void> {
		await this.edit(async (c, threadId) => {
			const { revision, edits } = await c.call("context/listEdits", { threadId });
			const last = edits.findLast((e) => !e.undone);
			if (!last || !trimEdits.has(last.op)) {
				this.notice("warning", "Other edits followed this one, and undo would take back the last of them. The tab Edits shows all.");
				return;
			}
			await c.call("context/undo", { threadId, expectedRevision: revision });
		});
	}

	private rebasePlan(): void {
		if (this.plan.value.size === 0) return;
		const { plan, lost } = rebase(this.plan.value, this.context.items.value);
		if (plan.size !== this.plan.value.size || lost.length > 0) this.plan.value = plan;
		if (lost.length > 0) {
			this.notice("warning", `The plan lost ${lost.length} item(s) that are not in the list any more: ${lost.slice(0, 5).join(", ")}.`);
		}
	}

	private get planKey(): string {
		return `appserver.plan.${this.id}`;
	}

	private savePlan(plan: Plan): void {
		if (plan.size === 0) localStorage.removeItem(this.planKey);
		else localStorage.setItem(this.planKey, JSON.stringify([...plan]));
	}

	private restorePlan(): void {
		try {
			const saved = localStorage.getItem(this.planKey);
			if (saved) this.plan.value = new Map(JSON.parse(saved) as [string, Change][]);
		} catch {
			localStorage.removeItem(this.planKey);
		}
	}

	private schedulePreview(plan: Plan): void {
		clearTimeout(this.previewTimer);
		this.previewError.value = "";
		const edits = operationsOf(plan);
		if (edits.length === 0) {
			this.preview.value = null;
			return;
		}
		this.previewTimer = window.setTimeout(() => {
			this.connection.call("context/preview", { threadId: this.id, edits }).then((result) => {
				if (this.plan.peek() === plan) this.preview.value = result;
			}, (error: Error) => {
				if (this.plan.peek() !== plan) return;
				this.preview.value = null;
				this.previewError.value = error.message;
			});
		}, previewDelayMs);
	}

	notice(kind: Notice["kind"], text: string): void {
		if (this.notices.value.some((n) => n.text === text)) return;
		this.notices.value = [...this.notices.value.slice(-4), { id: nextNotice++, kind, text }];
	}

	closeNotice(id: number): void {
		this.notices.value = this.notices.value.filter((n) => n.id !== id);
	}

	/** report shows the error of a request. */
	report(error: unknown): void {
		if (error instanceof CallError && error.kind === "disconnected") return; // the banner shows it
		this.notice("error", error instanceof Error ? error.message : String(error));
	}
}
