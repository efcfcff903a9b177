// The open questions of all threads.

import * as app from "../store/app.ts";
import { inbox, kinds } from "../store/questions.ts";
import { count, plural } from "../lib/format.ts";
import { Icon } from "../lib/icons.tsx";
import type { OpenServerRequest } from "../wire/types.ts";
import { Menu } from "./menu.tsx";
import { titleOf } from "../store/titles.ts";

/** Inbox shows the number of open questions. A click lists them, another one opens the thread. */
export function Inbox() {
	const open = inbox.value;
	if (open.length === 0) return null;
	const text = plural(open.length, "open question");
	return (
		<span class="attention" role="status">
			<Menu label={text} text={<><Icon name="bell" />{count(open.length)}<span class="words">{text.slice(count(open.length).length)}</span></>} entries={open.map((r) => ({
				label: `${nameOf(r.threadId)}: ${kinds[r.method] ?? r.method}`, icon: "bell" as const, run: () => go(r),
			}))} />
		</span>
	);
}

function nameOf(threadId: string): string {
	const thread = app.threads.value.find((t) => t.id === threadId);
	return thread ? titleOf(thread) : "Thread";
}

function go(r: OpenServerRequest): void {
	app.show(r.threadId);
	requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-question]")?.focus());
}
