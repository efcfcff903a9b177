// The plan of edits that are not applied yet.

import { effect, signal, untracked } from "@preact/signals";
import { Delay } from "../lib/delay.ts";
import { keep, type Keeper } from "../lib/keep.ts";
import { CallError } from "../wire/connection.ts";
import type { ContextItem, ContextOperation, ContextPreviewResponse } from "../wire/types.ts";
import type { ContextList } from "./context.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";

const previewDelayMs = 150;
/** directKey is the name of the stored wish to apply edits at once. */
const directKey = "appserver.direct";

/** planKey returns the name of the stored plan of a thread. */
export const planKey = (threadId: string): string => `appserver.plan.${threadId}`;

/** Change is the planned state of one item. Undefined members stay as they are. */
export interface Change {
	included?: boolean;
	pinned?: boolean;
	deleted?: boolean;
	text?: string;
}

/** Plan has the changes of items by their ids. */
export type Plan = ReadonlyMap<string, Change>;

/** operationsOf returns the edits of a plan, each kind once. */
export function operationsOf(plan: Plan): ContextOperation[] {
	const ids = (test: (c: Change) => boolean) => [...plan].filter(([, c]) => test(c)).map(([id]) => id);
	const edits: ContextOperation[] = [];
	const add = (list: string[], edit: (ids: string[]) => ContextOperation) => {
		if (list.length > 0) edits.push(edit(list));
	};
	add(ids((c) => c.included === true), (list) => ({ type: "setInclusion", ids: list, included: true }));
	add(ids((c) => c.included === false), (list) => ({ type: "setInclusion", ids: list, included: false }));
	add(ids((c) => c.pinned === true), (list) => ({ type: "pin", ids: list, pinned: true }));
	add(ids((c) => c.pinned === false), (list) => ({ type: "pin", ids: list, pinned: false }));
	for (const [id, c] of plan) if (c.text !== undefined) edits.push({ type: "replace", id, text: c.text });
	add(ids((c) => c.deleted === true), (list) => ({ type: "pruneByIndices", ids: list }));
	return edits;
}

/**
 * rebase returns the part of a plan that still changes something, and the ids that do not exist any
 * more.
 */
export function rebase(plan: Plan, items: readonly ContextItem[]): { plan: Plan; lost: string[] } {
	const known = new Map(items.map((i) => [i.id, i]));
	const next = new Map<string, Change>();
	const lost: string[] = [];
	for (const [id, change] of plan) {
		const item = known.get(id);
		if (!item) {
			lost.push(id);
			continue;
		}
		const kept: Change = { ...change };
		if (kept.included === item.included) delete kept.included;
		if (kept.pinned === item.pinned) delete kept.pinned;
		if (Object.keys(kept).length > 0) next.set(id, kept);
	}
	return { plan: next, lost };
}

/** merge returns a plan with one more change; a change back to the item's state removes it. */
export function merge(plan: Plan, item: ContextItem, change: Change): Plan {
	const next = new Map(plan);
	const merged: Change = { ...plan.get(item.id), ...change };
	if (merged.included === item.included) delete merged.included;
	if (merged.pinned === item.pinned) delete merged.pinned;
	if (merged.deleted === false) delete merged.deleted;
	if (merged.text === undefined) delete merged.text;
	if (Object.keys(merged).length === 0) next.delete(item.id);
	else next.set(item.id, merged);
	return next;
}

/** without returns a plan without the changes that were applied. Changes that were planned meanwhile stay. */
export function without(plan: Plan, applied: Plan): Plan {
	const next = new Map<string, Change>();
	for (const [id, change] of plan) {
		const done = applied.get(id) ?? {};
		const rest = Object.entries(change).filter(([name, value]) => done[name as keyof Change] !== value);
		if (rest.length > 0) next.set(id, Object.fromEntries(rest));
	}
	return next;
}

/** EditPlan has the plan of one thread, which outlives the page, and its price. */
export class EditPlan {
	readonly changes = signal<Plan>(new Map());
	/** direct is set if changes are applied at once. */
	readonly direct = signal(false);
	readonly preview = signal<ContextPreviewResponse | null>(null);
	readonly previewError = signal("");
	readonly applying = signal(false);
	private readonly delay = new Delay(previewDelayMs);
	private readonly key: string;

	constructor(
		private readonly requests: Requests, private readonly context: ContextList, private readonly notices: Notices,
		private readonly storage: Keeper,
	) {
		this.key = planKey(requests.threadId);
		this.direct.value = storage.getItem(directKey) === "true";
		this.restore();
	}

	/** start saves and prices the plan when it or the context changes. It returns a function that ends this. */
	start(): () => void {
		const stopRebase = effect(() => {
			void this.context.items.value;
			if (this.context.loaded.value) untracked(() => this.rebase());
		});
		const stopPreview = effect(() => {
			const plan = this.changes.value;
			void this.context.revision.value;
			this.save(plan);
			this.schedulePreview(plan);
		});
		return () => {
			stopRebase();
			stopPreview();
			this.delay.stop();
		};
	}

	/** change plans a change of some items, or applies it at once in direct mode. */
	async change(ids: readonly string[], change: Change): Promise<void> {
		if (this.direct.value) await this.commit(this.withChange(new Map(), ids, change));
		else this.add(ids, change);
	}

	/** add plans a change of some items, in direct mode too. */
	add(ids: readonly string[], change: Change): void {
		this.changes.value = this.withChange(this.changes.value, ids, change);
	}

	private withChange(plan: Plan, ids: readonly string[], change: Change): Plan {
		const items = new Map(this.context.items.value.map((i) => [i.id, i]));
		for (const id of ids) {
			const item = items.get(id);
			if (item) plan = merge(plan, item, change);
		}
		return plan;
	}

	/** setDirect chooses between the plan and edits at once. */
	setDirect(direct: boolean): void {
		keep(this.storage, directKey, String(direct));
		this.direct.value = direct;
	}

	/** discard drops all planned changes. */
	discard(): void {
		this.changes.value = new Map();
	}

	/** apply applies all planned changes as one edit. */
	async apply(when: "now" | "turnEnd" = "now"): Promise<void> {
		await this.commit(this.changes.value, when);
	}

	private async commit(plan: Plan, when: "now" | "turnEnd" = "now"): Promise<void> {
		const edits = operationsOf(plan);
		if (edits.length === 0) return;
		this.applying.value = true;
		try {
			const { call, threadId } = this.requests;
			const done = await call("context/apply", { threadId, edits, expectedRevision: this.context.revision.value, when });
			this.changes.value = without(this.changes.value, plan);
			if (!done.applied) this.notices.add("done", "The changes apply when the turn ends.");
		} catch (error) {
			if (error instanceof CallError && error.kind === "staleRevision") {
				await this.context.read();
				this.notices.add("warning", "The context changed in the meantime. The plan was adapted: check it and apply it again.");
			} else {
				this.notices.report(error);
			}
		} finally {
			this.applying.value = false;
		}
	}

	/** rebase removes what the context has already, and names the items that it does not have any more. */
	private rebase(): void {
		if (this.changes.value.size === 0) return;
		const { plan, lost } = rebase(this.changes.value, this.context.items.value);
		if (plan.size !== this.changes.value.size) this.changes.value = plan;
		if (lost.length === 0) return;
		const names = lost.slice(0, 5).join(", ");
		this.notices.add("warning", `The plan lost ${lost.length} item(s) that are not in the list any more: ${names}.`);
	}

	private save(plan: Plan): void {
		keep(this.storage, this.key, plan.size === 0 ? "" : JSON.stringify([...plan]));
	}

	private restore(): void {
		try {
			const saved = this.storage.getItem(this.key);
			if (saved) this.changes.value = new Map(JSON.parse(saved) as [string, Change][]);
		} catch {
			this.storage.removeItem(this.key);
		}
	}

	private schedulePreview(plan: Plan): void {
		this.delay.stop();
		this.previewError.value = "";
		const edits = operationsOf(plan);
		if (edits.length === 0) this.preview.value = null;
		else this.delay.start(() => void this.readPreview(plan, edits));
	}

	/** readPreview reads the price of a plan. The price of an older plan changes nothing. */
	private async readPreview(plan: Plan, edits: ContextOperation[]): Promise<void> {
		const { call, threadId } = this.requests;
		const result = await call("context/preview", { threadId, edits }).catch((error: Error) => error);
		if (this.changes.peek() !== plan) return;
		this.preview.value = result instanceof Error ? null : result;
		this.previewError.value = result instanceof Error ? result.message : "";
	}
}
