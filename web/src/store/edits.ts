// Undo and redo of edits of the context.

import { firstLine, plural, visible } from "../lib/format.ts";
import type { ContextEdit, ContextItem } from "../wire/types.ts";
import type { ContextList } from "./context.ts";
import { categoryName } from "../wire/contextwords.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";

/** trimEdits are the edits that make a trim point, or give it a summary. */
const trimEdits = new Set(["trim", "compact", "summarize"]);

const names: Record<string, string> = {
	exclude: "Exclude", include: "Include", delete: "Delete", prune: "Exclude a category", pin: "Pin", unpin: "Unpin",
	replace: "Replace", note: "Note", apply: "Several edits", restore: "Restore", trim: "Trim", compact: "Compact", mask: "Shorten outputs",
	summarize: "Edit the summary", revert: "Revert",
};

/** editName returns the kind of an edit as people read it. */
export const editName = (e: ContextEdit): string => names[e.op] ?? e.op;

/** nameLength is the length of the name of an item. */
const nameLength = 60;

/** itemName names an item by its text, or by its category if it has none. */
export const itemName = (i: ContextItem): string =>
	firstLine(visible(i.preview), nameLength) || categoryName(i.category);

/** singleOps are the edits of items of which a list has one. */
const singleOps: Record<string, string> = { excluded: "Exclude", included: "Include", deleted: "Delete",
	pinned: "Pin", unpinned: "Unpin", replaced: "Replace" };

/** Title is how people recognise an edit: its kind, and the one item that it changed, or the number of items. */
export interface Title {
	name: string;
	itemId: string | null;
	count: string;
}

/** titleOfEdit names an edit of one item by the item. */
export function titleOfEdit(e: ContextEdit): Title {
	const items = e.items ?? [];
	if (items.length !== 1 || e.op === "trim" || e.op === "compact" || e.op === "revert") {
		return { name: editName(e), itemId: null, count: plural(e.count, "item") };
	}
	const name = e.op === "apply" ? singleOps[items[0]!.is] ?? editName(e) : editName(e);
	return { name, itemId: items[0]!.id, count: "" };
}

/** undoTarget returns the last edit in force, and the revision that an undo of it goes to, or null. */
export function undoTarget(edits: readonly ContextEdit[]): { edit: ContextEdit; revision: number } | null {
	const inForce = edits.filter((e) => !e.undone);
	const edit = inForce.at(-1);
	return edit && edit.op !== "revert" ? { edit, revision: inForce.at(-2)?.revision ?? 0 } : null;
}

/** Edits undoes and redoes the edits of one thread. */
export class Edits {
	/** retracing ends after the last undo or redo. retraced is the revision that it made. */
	private retracing: Promise<void> = Promise.resolve();
	private retraced = 0;

	constructor(
		private readonly requests: Requests, private readonly context: ContextList, private readonly notices: Notices,
	) {}

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
			await this.requests.edit(async (c, threadId) => {
				const expectedRevision = Math.max(this.context.revision.value, this.retraced);
				this.retraced = (await c.call(method, { threadId, expectedRevision })).revision;
			});
		});
		return this.retracing;
	}

	/** undoTrim undoes the last edit if it made a trim point or its summary. Otherwise it undoes nothing. */
	async undoTrim(): Promise<void> {
		await this.requests.edit(async (c, threadId) => {
			const { revision, edits } = await c.call("context/listEdits", { threadId });
			const last = edits.findLast((e) => !e.undone);
			if (!last || !trimEdits.has(last.op)) {
				this.notices.add("warning",
					"Other edits followed this one, and undo would take back the last of them. The tab Edits shows all.");
				return;
			}
			await c.call("context/undo", { threadId, expectedRevision: revision });
		});
	}
}
