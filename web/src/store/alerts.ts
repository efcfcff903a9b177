// Waiting questions and finished turns, for users who look at something else: the title of the tab, and notifications.

import { computed, effect, signal } from "@preact/signals";
import { keep } from "../lib/keep.ts";
import { visible } from "../lib/format.ts";
import { lasting } from "../wire/storage.ts";
import type { Thread } from "../wire/types.ts";
import * as app from "./app.ts";
import { inbox, kinds } from "./questions.ts";
import { pathOf, titleOf } from "./titles.ts";

const key = "appserver.alerts";
const maxTitle = 60;

/** wanted reports whether the user asked for notifications on this browser. */
export const wanted = signal(lasting.getItem(key) === "true");
/** finished is the number of turns that ended while the user looked at something else. */
const finished = signal(0);

/** supported reports whether the browser has notifications. */
export const supported = (): boolean => typeof Notification === "function";

/** allowed reports whether the browser shows the notifications of this page. */
export const allowed = (): boolean => supported() && Notification.permission === "granted";

/** want turns the notifications on or off. It returns false if the browser does not allow them. */
export async function want(on: boolean): Promise<boolean> {
	const ok = !on || (supported() && (await Notification.requestPermission()) === "granted");
	wanted.value = on && ok;
	keep(lasting, key, wanted.value ? "true" : "");
	return ok;
}

/** title is the title of the tab: the waiting questions, turns that ended unseen, and the thread. */
export const title = computed(() => {
	const open = inbox.value.length;
	const thread = app.current.value?.settings.thread.value;
	const parts = [
		open > 0 ? `(${open})` : "", finished.value > 0 ? "✓" : "", thread ? `${name(thread)} – Workbench` : "Workbench",
	];
	return parts.filter(Boolean).join(" ");
});

const name = (t: Thread): string => visible(titleOf(t)).slice(0, maxTitle);

/** threads returns the listed threads, and the open one if the list lacks it: the status of each has one source. */
function threads(): readonly Thread[] {
	const thread = app.current.value?.settings.thread.value;
	const list = app.threads.value;
	return !thread || list.some((t) => t.id === thread.id) ? list : [...list, thread];
}

/** startAlerts follows the questions and the threads. It returns a function that ends this. */
export function startAlerts(): () => void {
	const asked = new Set(inbox.peek().map(idOf));
	const active = new Map<string, boolean>();
	const seen = () => (finished.value = 0);
	const stops = [
		effect(() => {
			document.title = title.value;
		}),
		effect(() => {
			for (const r of inbox.value) {
				if (asked.has(idOf(r))) continue;
				asked.add(idOf(r));
				alert(r.threadId, `Question: ${kinds[r.method] ?? "an answer is needed"}`);
			}
		}),
		effect(() => {
			for (const t of threads()) {
				const now = t.status.type === "active";
				if (active.get(t.id) === true && !now) ended(t);
				active.set(t.id, now);
			}
		}),
	];
	window.addEventListener("focus", seen);
	return () => {
		for (const stop of stops) stop();
		window.removeEventListener("focus", seen);
	};
}

const idOf = (r: { threadId: string; requestId: unknown; itemId: string | null }): string =>
	`${r.threadId} ${String(r.requestId)} ${r.itemId ?? ""}`;

function ended(t: Thread): void {
	if (document.hasFocus()) return;
	finished.value = finished.peek() + 1;
	alert(t.id, t.status.type === "systemError" ? "The turn failed" : "The turn has ended");
}

/** alert shows a notification, unless the user looks at the page. A click on it opens the thread. */
function alert(threadId: string, text: string): void {
	if (!wanted.peek() || !allowed() || document.hasFocus()) return;
	const body = visible(pathOf(threadId, app.allThreads())).slice(0, maxTitle);
	const shown = new Notification(text, { body, tag: `appserver.${threadId}` });
	shown.onclick = () => {
		window.focus();
		app.show(threadId);
		shown.close();
	};
}
