// The search in the messages of a thread.

import { signal } from "@preact/signals";
import type { ThreadSearchOccurrence } from "../wire/types.ts";
import { Delay } from "../lib/delay.ts";
import type { Items } from "./items.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";
import { reveal } from "./reveal.ts";

const delayMs = 200;
const maxMatches = 250;

/** Find has the state of the bar for one thread. */
export class Find {
	readonly open = signal(false);
	readonly term = signal("");
	readonly matches = signal<readonly ThreadSearchOccurrence[]>([]);
	readonly more = signal(false);
	readonly at = signal(-1);
	private readonly delay = new Delay(delayMs);

	constructor(
		private readonly requests: Pick<Requests, "call" | "threadId">, private readonly items: Pick<Items, "load">,
		private readonly notices: Pick<Notices, "report">,
	) {}

	/** current is the message of the current match. */
	get current(): string | null {
		return this.open.value ? this.matches.value[this.at.value]?.itemId ?? null : null;
	}

	/** itemIds are the messages with a match. */
	get itemIds(): ReadonlySet<string> {
		return new Set(this.open.value ? this.matches.value.map((m) => m.itemId) : []);
	}

	/** search searches for a text, soon after the last key. */
	search(term: string): void {
		this.term.value = term;
		this.delay.start(() => void this.run(term));
	}

	private async run(term: string): Promise<void> {
		if (term.trim() === "") {
			this.matches.value = [];
			this.at.value = -1;
			return;
		}
		try {
			const { call, threadId } = this.requests;
			const found = await call("thread/searchOccurrences", { threadId, searchTerm: term, limit: maxMatches });
			if (this.term.value !== term) return;
			this.matches.value = found.data;
			this.more.value = found.nextCursor !== null;
			this.at.value = -1;
			this.go(found.data.length - 1);
		} catch (error) {
			this.notices.report(error);
		}
	}

	/** move goes to the next or the previous match. */
	move(by: number): void {
		const n = this.matches.value.length;
		if (n > 0) this.go((this.at.value + by + n) % n);
	}

	private go(i: number): void {
		const match = this.matches.value[i];
		if (!match) return;
		this.at.value = i;
		void this.items.load(match.itemId, match.turnId).then((found) => found && reveal.timeline(match.itemId));
	}

	/** close ends the search. */
	close(): void {
		this.open.value = false;
		this.term.value = "";
		this.matches.value = [];
	}
}
