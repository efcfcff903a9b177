// Reverts of this page: the turns that left the conversation, and the way back.

import { signal } from "@preact/signals";
import type { ServerNotification, ThreadItem, UserMessageItem } from "../wire/types.ts";
import { CallError } from "../wire/connection.ts";
import { plural } from "../lib/format.ts";
import { reveal } from "./reveal.ts";
import type { ThreadStore } from "./thread.ts";

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

/** messageText returns the text of a message of the user. */
export const messageText = (item: UserMessageItem): string => item.content.map((c) => (c.type === "text" ? c.text : "")).join("");

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
export async function readTurnName(store: ThreadStore, turnId: string): Promise<TurnName> {
	const page = await store.call("thread/items/list", { threadId: store.id, turnId, limit: 1 });
	return turnName(page.data[0]?.item);
}

/** lastTurn returns the id of the thread's last turn, or null. */
export async function lastTurn(store: ThreadStore): Promise<string | null> {
	const page = await store.call("thread/turns/list", { threadId: store.id, limit: 1, itemsView: "notLoaded" });
	return page.data[0]?.id ?? null;
}

export class Reverts {
	/** removals are those that can be undone. The last one is undone first. */
	readonly removals = signal<readonly Removal[]>([]);
	readonly undoing = signal(false);

	constructor(private readonly store: ThreadStore) {}

	/** removed offers the undo of a revert. The message of the first turn goes to an empty composer. */
	removed(r: Removal): void {
		if (r.ids.length === 0) return;
		this.removals.value = [...this.removals.value, r];
		reveal.draft(r.first.message, "");
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
			const done = await this.store.call("thread/revert/undo", { threadId: this.store.id, expectedTurnId: r.ids[0]! });
			this.close();
			reveal.draft("", r.first.message);
			this.store.notice("done", `${plural(done.restoredTurnIds.length, "turn")} of the conversation came back.`);
		} catch (error) {
			if (error instanceof CallError && (error.kind === "staleTurn" || error.kind === "nothingToUndo")) this.close();
			this.store.report(error);
		} finally {
			this.undoing.value = false;
		}
	}

	/** close ends the offer to undo the last revert. */
	close(): void {
		this.removals.value = this.removals.value.slice(0, -1);
	}
}
