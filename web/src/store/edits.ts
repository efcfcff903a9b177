// Undo and redo of edits of the context.

import type { ContextList } from "./context.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";

/** trimEdits are the edits that make a trim point, or give it a summary. */
const trimEdits = new Set(["trim", "compact", "summarize"]);

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
