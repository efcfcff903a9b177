// Names of threads.

import { firstLine } from "../lib/format.ts";
import type { Thread } from "../wire/types.ts";

/** titleOf returns the name of a thread, or its first message. That of an agent begins with the agent's name. */
export function titleOf(t: Thread): string {
	const title = t.name || firstLine(t.preview, 80);
	return (t.agentNickname ? [t.agentNickname, title].filter(Boolean).join(": ") : title) || "New thread";
}

/** agentName returns the name of an agent, or its task without one. */
export const agentName = (t: Thread): string => t.agentNickname || titleOf(t);

/** pathOf names a thread. An agent is behind the thread that started it, as in "Release › Ada". */
export function pathOf(id: string, threads: readonly Thread[]): string {
	const thread = threads.find((t) => t.id === id);
	if (!thread) return "Thread";
	const parent = thread.parentThreadId;
	if (!parent) return titleOf(thread);
	const others = threads.filter((t) => t !== thread); // a damaged rollout can have a circle
	return others.some((t) => t.id === parent) ? `${pathOf(parent, others)} › ${agentName(thread)}` : agentName(thread);
}
