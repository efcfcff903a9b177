// Agents: threads that agents of other threads have started. The list shows them below their parent.

import { signal } from "@preact/signals";
import { Delay } from "../lib/delay.ts";
import type { Connection } from "../wire/connection.ts";
import type { ServerNotification, Thread } from "../wire/types.ts";

/** limit is the number of agents that are read at once. */
const limit = 100;
const reading = new Delay(150);

/** agents are the known agents of all threads. */
export const agents = signal<readonly Thread[]>([]);

/** readAgents reads the agents of a thread and theirs, or the newest ones of all threads. */
export async function readAgents(c: Pick<Connection, "call">, ancestorThreadId?: string): Promise<void> {
	const which = ancestorThreadId ? { ancestorThreadId } : { sourceKinds: ["subAgentThreadSpawn" as const] };
	const { data } = await c.call("thread/list", { limit, sortKey: "updated_at", modelProviders: [], ...which });
	const read = new Set(data.map((t) => t.id));
	agents.value = [...data, ...agents.value.filter((t) => !read.has(t.id))];
}

/** agentsNotified follows the agents. A status of a thread that is not known can be that of a new agent. */
export function agentsNotified(
	n: ServerNotification, c: Pick<Connection, "call">, known: (id: string) => boolean,
): void {
	switch (n.method) {
		case "thread/status/changed":
			if (change(n.params.threadId, { status: n.params.status }) || known(n.params.threadId)) return;
			reading.start(() => void readAgents(c).catch(() => undefined));
			return;
		case "thread/name/updated":
			change(n.params.threadId, { name: n.params.threadName ?? null });
			return;
		case "thread/archived":
		case "thread/deleted":
			agents.value = agents.value.filter((t) => t.id !== n.params.threadId);
	}
}

function change(id: string, change: Partial<Thread>): boolean {
	const found = agents.value.some((t) => t.id === id);
	if (found) agents.value = agents.value.map((t) => (t.id === id ? { ...t, ...change } : t));
	return found;
}

/** childrenOf returns the agents of a thread, the oldest first. */
export const childrenOf = (id: string, list = agents.value): Thread[] =>
	list.filter((t) => t.parentThreadId === id).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));

/** teamOf returns the agents of a thread and theirs: each before its own agents. */
export function teamOf(id: string, list = agents.value): Thread[] {
	const rest = list.filter((t) => t.id !== id); // a damaged rollout can have a circle
	return childrenOf(id, rest).flatMap((t) => [t, ...teamOf(t.id, rest)]);
}

/** isInTeam reports whether a thread is an agent of another one, or of its agents. */
export const isInTeam = (id: string, of: string): boolean => teamOf(of).some((t) => t.id === id);
