// Answers of which only a part came. The server does not keep them, and no request has them.

import type { ThreadItem } from "../wire/types.ts";
import type { Entry } from "./timeline.ts";

/** Cuttable is the part of a thread that tells of cut answers. */
export interface Cuttable {
	turns: { current: { value: string | null } };
	items: { timeline: { entries: readonly Entry[] } };
}

/** answers are the types of the items that a model writes piece by piece. */
const answers = new Set(["agentMessage", "reasoning", "plan"]);

/** cutBy returns what cut an answer of a turn, or "" if it is whole or still comes. */
export function cutBy(store: Cuttable, turnId: string, item: ThreadItem): string {
	if (!answers.has(item.type) || item.startedAtMs === null || item.completedAtMs !== null) return "";
	const after = laterEntries(store.items.timeline.entries, turnId, item.id);
	for (const { data } of after) {
		if (data.type === "item" && data.item.type === "userMessage") return "your next message";
		if (data.type === "item" && answers.has(data.item.type)) return "another attempt";
		if (data.type === "turnCompleted") return data.status === "failed" ? "a failure" : "Stop";
	}
	return store.turns.current.value === turnId ? "" : "Stop";
}

/** laterEntries returns the entries of a turn after an item. */
function laterEntries(entries: readonly Entry[], turnId: string, itemId: string): Entry[] {
	const of = entries.filter((e) => "turnId" in e.data && e.data.turnId === turnId);
	const at = of.findLastIndex((e) => e.data.type === "item" && e.data.item.id === itemId);
	return at < 0 ? [] : of.slice(at + 1);
}
