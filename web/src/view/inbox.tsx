// The inbox: open questions, and finished and failed turns, of all threads.

import * as app from "../store/app.ts";
import { ended, readAll } from "../store/inbox.ts";
import { inbox, kinds } from "../store/questions.ts";
import { age, count, plural, visible } from "../lib/format.ts";
import { Icon } from "../lib/icons.tsx";
import type { OpenServerRequest } from "../wire/types.ts";
import { Menu } from "./menu.tsx";
import { pathOf } from "../store/titles.ts";

/** Inbox counts open questions and turns that ended in threads that are not open. It lists them, questions first. */
export function Inbox() {
	const open = inbox.value;
	const failed = ended.value.filter((e) => e.failed);
	const finished = ended.value.filter((e) => !e.failed);
	const total = open.length + ended.value.length;
	if (total === 0) return null;
	const parts = [
		[open.length, "open question"], [failed.length, "failed turn"], [finished.length, "finished turn"],
	] as const;
	const text = parts.filter(([n]) => n > 0).map(([n, name]) => plural(n, name)).join(", ");
	const words = total === open.length ? text.slice(count(total).length) : total === finished.length ? " finished" : "";
	const label = (
		<>
			<Icon name={open.length > 0 ? "bell" : failed.length > 0 ? "warning" : "check"} />{count(total)}
			<span class="words">{words}</span>
		</>
	);
	return (
		<span class={`attention ${open.length + failed.length > 0 ? "" : "calm"}`} role="status">
			<Menu label={text} text={label} entries={[
				...open.map((r) => ({
					label: `${nameOf(r.threadId)}: ${kinds[r.method] ?? r.method}`, icon: "bell" as const, run: () => go(r),
				})),
				...[...failed, ...finished].map((e) => ({
					label: `${visible(e.title)}: ${e.failed ? "failed" : "finished"}, ${age(e.at)}`,
					icon: e.failed ? "warning" as const : "check" as const, run: () => app.show(e.threadId),
				})),
				...(ended.value.length > 1 ? [{ label: "Mark all as read", icon: "x" as const, run: readAll }] : []),
			]} />
		</span>
	);
}

const nameOf = (threadId: string): string => pathOf(threadId, app.allThreads());

function go(r: OpenServerRequest): void {
	app.show(r.threadId);
	requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-question]")?.focus());
}
