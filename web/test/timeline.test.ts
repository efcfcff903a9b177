import { Timeline, visibleEntries } from "../src/store/timeline.ts";
import type { ThreadTimelineEntry, ThreadTimelineListResponse } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

function message(id: string, trimmed = false): ThreadTimelineEntry {
	return {
		type: "item", position: 0, turnId: "t", trimmed,
		item: { type: "agentMessage", id, text: id } as never,
	};
}

function trimPoint(id: string): ThreadTimelineEntry {
	return { type: "trimPoint", position: 0, trimPoint: { id } as never, hiddenMessageCount: 0, label: "Earlier", trimmed: false };
}

function page(data: ThreadTimelineEntry[],
	change: Partial<ThreadTimelineListResponse> = {}): ThreadTimelineListResponse {
	return { data, nextCursor: null, activeRealtimeSessionAtPageStart: null, ...change };
}

const ids = (t: Timeline) => t.entries.map((e) => e.key.split(":").at(-1));

test("pages and live items become one list without repetitions", () => {
	const t = new Timeline();
	t.reset(page([message("c"), message("d")], { nextCursor: "older" }));
	t.put(message("e"));
	t.prepend(page([message("a"), message("b"), message("c")]));
	equal([ids(t), t.older], [["a", "b", "c", "d", "e"], null]);
});

test("a live item stays when the newest page does not have it yet", () => {
	const t = new Timeline();
	t.reset(page([message("a")]));
	t.put(message("live"));
	t.reset(page([message("a"), message("b")]));
	equal(ids(t), ["a", "b", "live"]);
	t.reset(page([message("a"), message("b"), message("live")]));
	equal(ids(t), ["a", "b", "live"]);
});

test("live items wait while an early part of the thread is shown", () => {
	const t = new Timeline();
	t.reset(page([message("d")]));
	t.reset(page([message("a"), message("b")], { newerCursor: "newer" }));
	t.put(message("live"));
	t.edit("t", "live", (i) => i.type === "agentMessage" && (i.text += " more"));
	equal(ids(t), ["a", "b"]);
	t.extend(page([message("c"), message("d")]));
	equal(ids(t), ["a", "b", "c", "d", "live"]);
	equal((t.item("t", "live")!.data.item as { text: string }).text, "live more");
});

test("a thread of any length keeps a bounded number of entries, and continues in both directions", () => {
	const t = new Timeline();
	t.reset(page([message("last")], { nextCursor: "older" }));
	for (let p = 0; p < 25; p++) {
		t.prepend(page(Array.from({ length: 1000 }, (_, i) => message(`${24 - p}-${i}`)), { nextCursor: "older" }));
	}
	equal(t.entries.length <= 20_000, true);
	equal(ids(t)[0], "0-0");
	const last = ids(t).at(-1)!;
	equal(t.newer, { around: last, turnId: "t" });
	for (let p = 0; p < 25; p++) {
		t.extend(page(Array.from({ length: 1000 }, (_, i) => message(`${p}-${i}`)), p < 24 ? { newerCursor: "newer" } : {}));
	}
	equal(t.entries.length <= 20_000, true);
	equal(ids(t).at(-1), "24-999");
	equal(t.older, { around: ids(t)[0], turnId: "t" });
});

test("each trim point folds the entries before it", () => {
	const t = new Timeline();
	t.reset(page([message("a", true), trimPoint("p"), message("b", true), trimPoint("q"), message("c")]));
	const shown = (open: string[]) => visibleEntries(t.entries, new Set(open)).map((e) => e.key.split(":").at(-1));
	equal(shown([]), ["p", "q", "c"]);
	equal(shown(["q"]), ["p", "b", "q", "c"]);
	equal(shown(["p", "q"]), ["a", "p", "b", "q", "c"]);
	equal([t.sectionOf("a"), t.sectionOf("b"), t.sectionOf("c")], ["p", "q", null]);
});
