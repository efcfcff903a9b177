// What compactions added to summaries and lost. The server reports it once, so the browser keeps it.

import { signal } from "@preact/signals";
import { keep, type Keeper } from "../lib/keep.ts";
import type { CompactionLoss, ContextCompactedNotification, ServerNotification, ThreadCompactProposeResponse,
	TrimPoint } from "../wire/types.ts";

/** kept is the number of reports of a thread that are kept. One has at most about 6 KB. */
const kept = 5;

/** reportsKey returns the name of the stored reports of a thread. */
export const reportsKey = (threadId: string): string => `appserver.losses.${threadId}`;

/**
 * LossReport has the rules of the user that a summary was given, the facts that it does not mention, and how many more.
 */
export interface LossReport {
	rulesAdded: readonly string[];
	losses: readonly CompactionLoss[];
	omitted: number;
}

/** CompactionReport is the report of a compaction, with the tokens of the next request before and after it. */
export interface CompactionReport extends LossReport {
	/** place is the id of the trim point. A compaction without one, which masks outputs, has the id of its turn. */
	place: string;
	masks: boolean;
	before: number;
	after: number;
}

/** draftReport returns the report of a draft. */
export const draftReport = (d: ThreadCompactProposeResponse): LossReport =>
	({ rulesAdded: d.rulesAdded ?? [], losses: d.lossDetails, omitted: d.lossesOmitted ?? 0 });

/** isEmpty reports whether nothing was added and nothing was lost. */
export const isEmpty = (r: LossReport): boolean => r.rulesAdded.length === 0 && r.losses.length === 0 &&
	r.omitted === 0;

/** CompactionReports has the newest reports of one thread. */
export class CompactionReports {
	readonly byPlace = signal<ReadonlyMap<string, CompactionReport>>(new Map());
	/** waiting is a report whose trim point comes next. */
	private waiting: CompactionReport | null = null;

	constructor(private readonly key: string, private readonly storage: Keeper) {
		try {
			const saved = JSON.parse(storage.getItem(key) ?? "[]") as CompactionReport[];
			this.byPlace.value = new Map(saved.map((r) => [r.place, r]));
		} catch {
			// the text is not of this page
		}
	}

	/** notified takes reports of compactions and their trim points. */
	notified(n: ServerNotification): void {
		if (n.method === "thread/compacted") this.compacted(n.params);
		if (n.method === "thread/trimPoint/created") this.trimmed(n.params.trimPoint);
	}

	/** compacted takes the report of a compaction. */
	compacted(n: ContextCompactedNotification): void {
		const report: CompactionReport = {
			place: n.turnId, masks: n.strategy === "mask", before: n.oldTokenCount, after: n.newTokenCount,
			rulesAdded: n.rulesAdded ?? [], losses: n.losses ?? [], omitted: n.lossesOmitted ?? 0,
		};
		this.waiting = report.masks ? null : report;
		if (report.masks) this.add(report);
	}

	/** trimmed gives the report that waits its trim point. */
	trimmed(point: TrimPoint): void {
		const report = this.waiting;
		if (point.reason !== "compaction" || !report) return;
		this.waiting = null;
		if (!isEmpty(report)) this.add({ ...report, place: point.id });
	}

	private add(report: CompactionReport): void {
		const all = [...this.byPlace.peek().values()].filter((r) => r.place !== report.place);
		const next = [...all, report].slice(-kept);
		this.byPlace.value = new Map(next.map((r) => [r.place, r]));
		keep(this.storage, this.key, JSON.stringify(next));
	}
}

/** maxWords bounds the words of a loss that are compared with its item. */
const maxWords = 40;

/**
 * sharedText returns the longest run of words of a loss that its item has, so that a search finds the item. It may be
 * empty.
 */
export function sharedText(loss: string, item: string): string {
	const words = loss.split(/\s+/).filter(Boolean).slice(0, maxWords);
	let longest = "";
	for (let from = 0; from < words.length; from++) {
		for (let to = words.length; to > from; to--) {
			const run = words.slice(from, to).join(" ");
			if (run.length <= longest.length) break;
			if (item.includes(run)) longest = run;
		}
	}
	return longest;
}
