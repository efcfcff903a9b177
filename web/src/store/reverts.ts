// Reverts of this page: the turns that left the conversation, and the way back.

import { signal } from "@preact/signals";
import type { ServerNotification, ThreadItem } from "../wire/types.ts";
import { CallError } from "../wire/connection.ts";
import { plural } from "../lib/format.ts";
import type { MessageDraft } from "./draft.ts";
import { messageText } from "./items.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";

/** TurnName is how people recognise a turn. message is the whole text of the user's message, or "". */
export interface TurnName {
	name: string;
	message: string;
}

/** Removal is a revert that can be undone. */
export interface Removal {
	ids: readonly string[];
	first: TurnName;
	last: TurnName;
}

/** turnName names a turn by its first item. */
export function turnName(item: ThreadItem | undefined): TurnName {
	switch (item?.type) {
		case "userMessage": {
			const message = messageText(item);
			return { name: message.trim() === "" ? "A message without text" : message, message };
		}
		case "contextCompaction":
			return { name: "Compaction of the context", message: "" };
		case "enteredReviewMode":
			return { name: "Review", message: "" };
		case "commandExecution":
			return { name: `! ${item.command}`, message: "" };
	}
	return { name: "A turn without a message", message: "" };
}

/** readTurnName reads the first item of a turn. The turn need not be loaded. */
export async function readTurnName({ call, threadId }: Requests, turnId: string): Promise<TurnName> {
	const page = await call("thread/items/list", { threadId, turnId, limit: 1 });
	return turnName(page.data[0]?.item);
}

/** lastTurn returns the id of the thread's last turn, or null. */
export async function lastTurn({ call, threadId }: Requests): Promise<string | null> {
	const page = await call("thread/turns/list", { threadId, limit: 1, itemsView: "notLoaded" });
	return page.data[0]?.id ?? null;
}

/** Reverts offers to undo the reverts of one thread, until a turn begins. */
export class Reverts {
	/** removals are those that can be undone. The last one is undone first. */
	readonly removals = signal<readonly Removal[]>([]);
	readonly undoing = signal(false);

	constructor(
		private readonly requests: Requests, private readonly notices: Notices, private readonly draft: MessageDraft,
	) {}

	/** removed offers the undo of a revert. The message of the first turn goes to an empty composer. */
	removed(r: Removal): void {
		if (r.ids.length === 0) return;
		this.removals.value = [...this.removals.value, r];
		this.draft.replace(r.first.message, "");
	}

	/** notified makes the reverts final when a turn begins. */
	notified(n: ServerNotification): void {
		if (n.method === "turn/started") this.removals.value = [];
	}

	/** undo brings back the turns of the last revert. */
	async undo(): Promise<void> {
		const r = this.removals.value.at(-1);
		if (!r || this.undoing.value) return;
		this.undoing.value = true;
		try {
			const { call, threadId } = this.requests;
			const done = await call("thread/revert/undo", { threadId, expectedTurnId: r.ids[0]! });
			this.close();
			this.draft.replace("", r.first.message);
			this.notices.add("done", `${plural(done.restoredTurnIds.length, "turn")} of the conversation came back.`);
		} catch (error) {
			if (error instanceof CallError && (error.kind === "staleTurn" || error.kind === "nothingToUndo")) this.close();
			this.notices.report(error);
		} finally {
			this.undoing.value = false;
		}
	}

	/** close ends the offer to undo the last revert. */
	close(): void {
		this.removals.value = this.removals.value.slice(0, -1);
	}
}
