// Turns that ended in threads that are not open. The questions of all threads are in questions.ts.

import { signal } from "@preact/signals";
import { keep } from "../lib/keep.ts";
import { lasting } from "../wire/storage.ts";
import type { Thread, ThreadStatus } from "../wire/types.ts";
import { titleOf } from "./titles.ts";

const key = "appserver.inbox";
const maxEnded = 50;

/** Ended is a turn that ended while its thread was not open. */
export interface Ended {
	threadId: string;
	/** title is the name of the thread at that time. */
	title: string;
	failed: boolean;
	/** at is the time in seconds. */
	at: number;
}

/** ended has the last such turn of each thread, the newest first. */
export const ended = signal<readonly Ended[]>(stored());

function stored(): readonly Ended[] {
	try {
		const list: unknown = JSON.parse(lasting.getItem(key) ?? "[]");
		return Array.isArray(list) ? list.filter((e: Partial<Ended> | null) => typeof e?.threadId === "string" &&
			typeof e.title === "string" && typeof e.at === "number") : [];
	} catch {
		return []; // another program wrote it
	}
}

function set(list: readonly Ended[]): void {
	ended.value = list.slice(0, maxEnded);
	keep(lasting, key, ended.value.length === 0 ? "" : JSON.stringify(ended.value));
}

/** followed takes the new status of a thread. open is the thread that the user sees. */
export function followed(thread: Thread | undefined, status: ThreadStatus, open: string | null): void {
	if (!thread || thread.status.type !== "active") return;
	if (status.type !== "idle" && status.type !== "systemError") return;
	if (thread.id === open && !document.hidden) return;
	const entry = {
		threadId: thread.id, title: titleOf(thread), failed: status.type === "systemError", at: Math.floor(Date.now() / 1000),
	};
	set([entry, ...ended.value.filter((e) => e.threadId !== thread.id)]);
}

/** read removes the entry of a thread, because the user has opened it. */
export function read(threadId: string): void {
	if (ended.value.some((e) => e.threadId === threadId)) set(ended.value.filter((e) => e.threadId !== threadId));
}

/** readAll removes all entries. */
export const readAll = (): void => set([]);
