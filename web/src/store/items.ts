// The items of a thread: pages of its timeline, and what notifications add to them.

import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { Newest } from "../lib/newest.ts";
import { toggled } from "../lib/toggled.ts";
import type {
	ServerNotification, ThreadItem, ThreadItemEntry, ThreadTimelineListResponse, TimelineItem, UserMessageItem,
} from "../wire/types.ts";
import { itemChange } from "./deltas.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";
import { Timeline, visibleEntries, type Entry } from "./timeline.ts";

const pageSize = 100;
/** textLimit is the number of characters of a text that a page of the timeline has. */
const textLimit = 20_000;

/** Place says where a page of the timeline begins. Without members it is the end of the thread. */
interface Place {
	cursor?: string;
	from?: string;
	around?: string;
	turnId?: string;
}

/** messageText returns the text of a message of the user. */
export const messageText = (item: UserMessageItem): string => item.content.map((c) => (c.type === "text" ? c.text : ""))
	.join("");

/** Items loads the timeline of one thread and keeps it up to date. */
export class Items {
	readonly timeline = new Timeline();
	/** open are the trim points whose earlier entries are shown. */
	readonly open = signal<ReadonlySet<string>>(new Set());
	/** marked are the items of the edit or of the suggestion under the pointer. */
	readonly marked = signal<ReadonlySet<string>>(new Set());
	/** outputs has the outputs so far of background commands whose items are not loaded. */
	readonly outputs = signal<ReadonlyMap<string, string>>(new Map());
	/** rows are the entries that are shown. */
	readonly rows: ReadonlySignal<readonly Entry[]>;
	private readonly reads = new Newest();
	/** busy is set while a page is read. */
	private busy = false;

	/** reported has the turns whose end is shown. */
	constructor(
		private readonly requests: Requests, private readonly notices: Notices,
		reported: ReadonlySignal<{ has(turnId: string): boolean }>,
	) {
		this.rows = computed(() => visibleEntries(this.timeline.entries, this.open.value, reported.value));
	}

	/** loadEnd replaces the entries by the newest page. */
	loadEnd(): Promise<void> {
		return this.replace({});
	}

	/** loadOlder adds the next older page. */
	async loadOlder(): Promise<void> {
		const edge = this.timeline.older;
		if (edge && !this.busy) await this.read(edge, (page) => this.timeline.prepend(page));
	}

	/** loadNewer adds the next newer page, if the end of the thread is not loaded. */
	async loadNewer(): Promise<void> {
		const edge = this.timeline.newer;
		if (!edge || this.busy) return;
		await this.read("cursor" in edge ? { from: edge.cursor } : edge, (page) => this.timeline.extend(page));
	}

	/** load loads the page around an item, and opens its section. It returns false if there is no such item. */
	async load(itemId: string, turnId: string): Promise<boolean> {
		if (this.timeline.indexOfItem(itemId) < 0) await this.replace({ around: itemId, turnId });
		if (this.timeline.indexOfItem(itemId) < 0) return false;
		const trimPoint = this.timeline.sectionOf(itemId);
		if (trimPoint !== null && !this.open.value.has(trimPoint)) this.toggleSection(trimPoint);
		return true;
	}

	/** replace reads the page that replaces all entries. A page that is on its way would be of the former ones. */
	private replace(where: Place): Promise<void> {
		return this.read(where, (page) => this.timeline.reset(page));
	}

	private read(where: Place, take: (page: ThreadTimelineListResponse) => void): Promise<void> {
		return this.reads.run(async (isNewest) => {
			this.busy = true;
			try {
				const { call, threadId } = this.requests;
				const page = await call("thread/timeline/list", { threadId, limit: pageSize, textLimit, ...where });
				if (!isNewest()) return;
				take(page);
				page.inProgress?.forEach((e) => this.resume(e));
			} catch (error) {
				if (isNewest()) this.notices.report(error);
			} finally {
				if (isNewest()) this.busy = false;
			}
		});
	}

	/** resume shows an item in progress as far as it is. Later pieces continue it. */
	private resume({ turnId, item }: ThreadItemEntry): void {
		const known = this.timeline.item(turnId, item.id);
		if (known || turnId === this.timeline.openTurn()) {
			this.timeline.put({ type: "item", position: -1, turnId, item, trimmed: known?.data.trimmed ?? false });
		} else if (item.type === "commandExecution") {
			this.setOutput(item.id, item.aggregatedOutput ?? "");
		}
	}

	/** readItem replaces the short form of an item by the whole item. */
	async readItem(entry: Entry): Promise<void> {
		if (entry.data.type !== "item") return;
		try {
			const item = await this.wholeItem(entry.data);
			entry.whole = true;
			this.timeline.put({ ...entry.data, item, truncated: false });
		} catch (error) {
			this.notices.report(error);
		}
	}

	/** wholeItem returns an item with its whole texts. Pages of the timeline cut long ones. */
	async wholeItem({ turnId, item, truncated }: TimelineItem): Promise<ThreadItem> {
		if (!truncated) return item;
		const { call, threadId } = this.requests;
		return (await call("thread/item/read", { threadId, turnId, itemId: item.id })).item;
	}

	/** lastMessage returns the whole text of the user's last message, or "". */
	async lastMessage(): Promise<string> {
		const isMessage = (d: Entry["data"]) => d.type === "item" && d.item.type === "userMessage";
		const loaded = this.timeline.newer === null ? this.timeline.entries.findLast((e) => isMessage(e.data)) : undefined;
		if (loaded?.data.type === "item") {
			const item = await this.wholeItem(loaded.data);
			return item.type === "userMessage" ? messageText(item) : "";
		}
		const { call, threadId } = this.requests;
		const page = await call("thread/turns/list", { threadId, itemsView: "summary" });
		for (const item of page.data.flatMap((t) => t.items)) if (item.type === "userMessage") return messageText(item);
		return "";
	}

	/** toggleSection shows the entries before a trim point, or hides them. */
	toggleSection(trimPointId: string): void {
		this.open.value = toggled(this.open.value, trimPointId);
	}

	/** notified adds items and the ends of turns, and reads the end of the thread again if entries left it. */
	notified(n: ServerNotification): void {
		switch (n.method) {
			case "turn/started":
				this.timeline.put({
					type: "turnStarted", position: -1, turnId: n.params.turn.id, startedAt: n.params.turn.startedAt, trimmed: false,
				});
				return;
			case "turn/completed": {
				const { id, status, error, startedAt, completedAt, durationMs } = n.params.turn;
				this.timeline.put({
					type: "turnCompleted", position: -1, turnId: id, status, error, startedAt, completedAt, durationMs, trimmed: false,
				});
				return;
			}
			case "item/started":
			case "item/completed":
				this.timeline.put({ type: "item", position: -1, turnId: n.params.turnId, item: n.params.item, trimmed: false });
				return;
			case "thread/reverted":
				this.timeline.settle();
				void this.loadEnd();
				return;
			case "thread/trimPoint/created":
			case "thread/trimPoint/removed":
			case "thread/context/summarized":
				void this.loadEnd();
				return;
			default:
				this.grow(n);
		}
	}

	/** grow adds a piece of a text or of an output to its item. */
	private grow(n: ServerNotification): void {
		const change = itemChange(n);
		if (!change) return;
		const { turnId, itemId, run } = change;
		if (n.method === "item/commandExecution/outputDelta" && !this.timeline.item(turnId, itemId)) {
			this.setOutput(itemId, (this.outputs.peek().get(itemId) ?? "") + n.params.delta);
		}
		this.timeline.edit(turnId, itemId, run);
	}

	private setOutput(itemId: string, output: string): void {
		this.outputs.value = new Map(this.outputs.peek()).set(itemId, output.slice(-textLimit));
	}
}
