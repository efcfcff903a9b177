// The threads that the extension follows beside the page, so that their questions arrive when the page shows another.

import type { ContextUsage, ServerNotification } from "../../../schema/ts/index.ts";
import { count, percent, short } from "../../../web/src/lib/format.ts";
import { highShare, windowOf } from "../../../web/src/lib/window.ts";
import type { Mux, Port, Watcher } from "./mux.ts";

/** ThreadEvents are called when the state that the editor shows changes. */
export interface ThreadEvents {
	/** current is called with the thread that the page opened last. */
	current(threadId: string): void;
	usage(usage: ContextUsage | null): void;
}

/** Threads is made for one connection. bind must be called before the first client follows a thread. */
export class Threads implements Watcher {
	private readonly active = new Set<string>();
	private own: Port | null = null;
	private mux: Mux | null = null;

	constructor(private readonly events: ThreadEvents, private currentId: string | null) {}

	bind(mux: Mux, own: Port): void {
		this.mux = mux;
		this.own = own;
	}

	/** current is the thread that the page opened last, or null. */
	get current(): string | null {
		return this.currentId;
	}

	followed(port: Port, threadId: string): void {
		if (port !== this.own) this.own!.follow(threadId);
		this.setCurrent(threadId);
	}

	unfollowed(port: Port, threadId: string): void {
		if (port !== this.own) this.release(threadId);
	}

	notice(n: ServerNotification): void {
		switch (n.method) {
			case "thread/status/changed": {
				const { threadId, status } = n.params;
				if (status.type === "active") this.active.add(threadId);
				else if (this.active.delete(threadId)) this.release(threadId);
				break;
			}
			case "ContextItems":
				if (n.params.threadId === this.currentId) this.events.usage(n.params.usage);
				break;
			case "thread/deleted":
			case "thread/archived":
				this.active.delete(n.params.threadId);
				this.forget(n.params.threadId);
				break;
		}
	}

	/** forget ends that a thread is the current one, because it does not exist any more. */
	forget(threadId: string): void {
		if (threadId !== this.currentId) return;
		this.currentId = null;
		this.events.usage(null);
	}

	private setCurrent(threadId: string): void {
		const former = this.currentId;
		if (former === threadId) return;
		this.currentId = threadId;
		this.events.usage(null);
		this.events.current(threadId);
		if (former !== null) this.release(former);
	}

	/** release stops following a thread that does not work, is not current, and that no page shows. */
	private release(threadId: string): void {
		if (!this.own?.follows.has(threadId) || threadId === this.currentId || this.active.has(threadId)) return;
		if (this.mux!.isFollowed(threadId, this.own)) return;
		this.own.send({ id: `release ${threadId}`, method: "thread/unsubscribe", params: { threadId } });
	}
}

/** Gauge is the text of the status bar. high is set if little room is left. */
export interface Gauge {
	text: string;
	tooltip: string;
	high: boolean;
}

/** gaugeOf returns the gauge of a context, or without a context the one of no thread. */
export function gaugeOf(usage: ContextUsage | null): Gauge {
	if (!usage) return { text: "$(dashboard) appserver", tooltip: "Show the context of the thread", high: false };
	const window = windowOf(usage);
	const share = usage.promptTokens / window;
	const assumed = usage.modelContextWindow === null ? " (assumed)" : "";
	return {
		text: `$(dashboard) ${short(usage.promptTokens)} of ${short(window)} (${percent(share)})`,
		tooltip: `${count(usage.promptTokens)} of ${count(window)}${assumed} tokens in the next request. Click to show the context.`,
		high: share > highShare,
	};
}
