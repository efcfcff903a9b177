// Pieces of items that the server streams.

import type { ServerNotification, ThreadItem } from "../wire/types.ts";

/** ItemChange is a change of an item in place. */
export interface ItemChange {
	turnId: string;
	itemId: string;
	run(item: ThreadItem): void;
}

/** itemChange returns the change that a notification makes, or null if it has no piece of an item. */
export function itemChange(n: ServerNotification): ItemChange | null {
	const change = (p: { turnId: string; itemId: string }, run: (i: ThreadItem) => void): ItemChange =>
		({ turnId: p.turnId, itemId: p.itemId, run });
	switch (n.method) {
		case "item/agentMessage/delta":
		case "item/plan/delta":
			return change(n.params, (i) => {
				if (i.type === "agentMessage" || i.type === "plan") i.text += n.params.delta;
			});
		case "item/reasoning/summaryTextDelta":
			return change(n.params, (i) => {
				if (i.type === "reasoning") append(i.summary, n.params.summaryIndex, n.params.delta);
			});
		case "item/reasoning/textDelta":
			return change(n.params, (i) => {
				if (i.type === "reasoning") append(i.content, n.params.contentIndex, n.params.delta);
			});
		case "item/commandExecution/outputDelta":
			return change(n.params, (i) => {
				if (i.type === "commandExecution") i.aggregatedOutput = (i.aggregatedOutput ?? "") + n.params.delta;
			});
		default:
			return null;
	}
}

function append(parts: string[], index: number, text: string): void {
	parts[index] = (parts[index] ?? "") + text;
}
