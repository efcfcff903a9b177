// The changes of files: by a turn, by the thread, or since a checkpoint.

import { effect, signal } from "@preact/signals";
import { Delay } from "../lib/delay.ts";
import { Newest } from "../lib/newest.ts";
import { files, type FilePatch } from "../lib/patch.ts";
import { toggled } from "../lib/toggled.ts";
import { CallError } from "../wire/connection.ts";
import type { ChangedTurn, Checkpoint, DiffSummary, ServerNotification } from "../wire/types.ts";
import { editor } from "../wire/editor.ts";
import { connected } from "./app.ts";
import { turnName } from "./reverts.ts";
import type { ThreadStore } from "./thread.ts";

const delayMs = 300;
const checkpointPage = 100;

/**
 * Scope selects changes: "latest" (the turn in progress, or the last one with changes), "thread",
 * "turn:ID", "since:ID" of a checkpoint, or "between:ID:ID" of two.
 */
export type Scope = string;

/** Phase is the state of the list. */
export type Phase = "loading" | "ready" | "failed";

interface Answer {
	roots?: readonly string[];
	diff: string;
	cut: boolean;
	summary: DiffSummary;
}

/** Reverted counts what a revert changed. Undo is the checkpoint that takes it back, or null. */
export interface Reverted {
	files: number;
	turns: number;
	undo: Pick<Checkpoint, "id" | "kind" | "inThread"> | null;
}

/** Changes has the changes of one thread that the panel shows. */
export class Changes {
	readonly scope = signal<Scope>("latest");
	readonly phase = signal<Phase>("loading");
	readonly failure = signal("");
	/** failureKind is the kind of the server's error. */
	readonly failureKind = signal("");
	readonly files = signal<readonly FilePatch[]>([]);
	readonly cut = signal(false);
	readonly turns = signal<readonly ChangedTurn[]>([]);
	readonly checkpoints = signal<readonly Checkpoint[]>([]);
	/** open are the paths of files whose lines are shown, whole those without folded lines. */
	readonly open = signal<ReadonlySet<string>>(new Set());
	readonly whole = signal<ReadonlySet<string>>(new Set());
	/** target is a line to show when the diff is there. */
	readonly target = signal<{ path: string; line: number } | null>(null);
	/** reverted is the last revert of this page, until the user closes its notice. */
	readonly reverted = signal<Reverted | null>(null);
	/** roots are the folders to which the paths are relative. */
	private roots: readonly string[] = [];
	/** latest is the scope that "latest" stands for. */
	private latest: Scope = "thread";
	private readonly reads = new Newest();
	private readonly delay = new Delay(delayMs);

	constructor(private readonly store: ThreadStore) {}

	/** start loads the changes, and again when they change. It returns a function that ends this. */
	start(): () => void {
		const stopWatching = this.store.watch((n) => this.notified(n));
		const stop = effect(() => {
			void this.scope.value;
			if (connected()) void this.load();
		});
		return () => {
			this.delay.stop();
			stopWatching();
			stop();
		};
	}

	private notified(n: ServerNotification): void {
		if (n.method === "turn/diff/updated") {
			if (this.scope.peek() !== "latest") this.soon();
			else this.show({ diff: n.params.diff, cut: false });
		} else if (n.method === "turn/started" || n.method === "turn/completed" || n.method === "thread/reverted") {
			this.soon();
		}
	}

	/** soon loads again, once for changes that come together. */
	soon(): void {
		this.delay.start(() => void this.load());
	}

	/** load reads the changes of the scope. What is shown stays until the answer comes. */
	load(): Promise<void> {
		return this.reads.run((isNewest) => this.readAll(isNewest));
	}

	private async readAll(isNewest: () => boolean): Promise<void> {
		void this.listCheckpoints(isNewest);
		try {
			const answer = await this.read(this.scope.peek());
			if (isNewest()) this.show(answer);
		} catch (error) {
			if (!isNewest()) return;
			this.failure.value = (error as Error).message;
			this.failureKind.value = error instanceof CallError ? error.kind : "";
			if (this.failureKind.value !== "disconnected") this.phase.value = "failed";
		}
	}

	private async read(scope: Scope): Promise<Answer> {
		const threadId = this.store.id;
		const [kind, id = "", other] = scope.split(":");
		if (kind === "since" || kind === "between") {
			return this.store.requests.call("thread/checkpoint/diff", { threadId, turnId: id, toTurnId: other ?? null });
		}
		if (kind === "turn") return this.store.requests.call("thread/diff/read", { threadId, turnId: id });
		const all = await this.store.requests.call("thread/diff/read", { threadId });
		this.turns.value = all.turns;
		if (kind === "thread") return all;
		const latest = this.store.turns.current.peek() ?? all.turns.at(-1)?.turnId;
		this.latest = latest ? `turn:${latest}` : "thread";
		return latest ? this.store.requests.call("thread/diff/read", { threadId, turnId: latest }) : all;
	}

	/** listCheckpoints reads the checkpoints to choose from. Without them the other scopes work. */
	private async listCheckpoints(isNewest: () => boolean): Promise<void> {
		const page = await this.store.requests.call("thread/checkpoint/list",
			{ threadId: this.store.id, limit: checkpointPage }).catch(() => null);
		if (page && isNewest()) this.checkpoints.value = page.data;
	}

	private show(answer: Partial<Answer> & Pick<Answer, "diff" | "cut">): void {
		this.roots = answer.roots ?? this.roots;
		this.files.value = files(answer.diff, answer.summary);
		this.cut.value = answer.cut;
		this.phase.value = "ready";
		const target = this.target.peek();
		if (target && !this.find(target.path)) this.miss(target.path);
	}

	/** find returns the file of the list that a path names. Absolute paths end with the path of the file. */
	find(path: string): FilePatch | undefined {
		const list = this.files.peek();
		return list.find((f) => f.path === path) ?? list.find((f) => path.endsWith(`/${f.path}`));
	}

	/** reveal shows a line of a file. If the scope lacks the file, all changes of the thread are shown. */
	reveal(path: string, line: number): void {
		this.target.value = { path, line };
		if (!this.find(path)) this.miss(path);
	}

	private miss(path: string): void {
		if (this.scope.peek() !== "thread") {
			this.choose("thread");
			return;
		}
		this.target.value = null;
		this.store.notices.add("warning", `The changes of this thread do not have ${path}.`);
	}

	/** choose shows the changes of another scope. */
	choose(scope: Scope): void {
		this.open.value = new Set();
		this.whole.value = new Set();
		this.phase.value = "loading";
		this.scope.value = scope;
	}

	/** absolute returns the absolute path of a file, if there is one root. Otherwise it returns the path. */
	absolute(path: string): string {
		return this.roots.length === 1 ? `${this.roots[0]!.replace(/[/\\]$/, "")}/${path}` : path;
	}

	/** openInEditor shows the change of a file in the editor. */
	openInEditor(path: string): void {
		const scope = this.scope.peek() === "latest" ? this.latest : this.scope.peek();
		editor.request({ type: "appserver/openDiff", threadId: this.store.id, scope, path });
	}

	/** toggle opens or closes a file. */
	toggle(path: string): void {
		this.open.value = toggled(this.open.value, path);
	}
}

/** changesOf returns the changes of a thread. They keep their scope while the thread is open. */
export const changesOf = (store: ThreadStore): Changes => store.part(Changes);

/** turnNames returns the names of the turns that the page knows: by their loaded items, or else by the context. */
export function turnNames(store: ThreadStore): ReadonlyMap<string, string> {
	const names = new Map<string, string>();
	for (const { data: d } of store.items.timeline.entries) {
		if (d.type !== "item" || names.has(d.turnId)) continue;
		if (d.item.type === "userMessage" || d.item.type === "contextCompaction") names.set(d.turnId, turnName(d.item).name);
	}
	for (const i of store.context.items.value) {
		if (i.category === "userMessage" && i.turnId && !names.has(i.turnId)) names.set(i.turnId, i.preview);
	}
	return names;
}
