import { CompactionReports, sharedText } from "../src/store/losses.ts";
import type { ContextCompactedNotification, TrimPoint } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

function storage(saved: Record<string, string> = {}) {
	return {
		saved, getItem: (key: string) => saved[key] ?? null, setItem: (key: string, value: string) =>
			void (saved[key] = value),
		removeItem: (key: string) => void delete saved[key],
	};
}

const compacted = (more: Partial<ContextCompactedNotification>): ContextCompactedNotification =>
	({ threadId: "t", turnId: "turn", oldTokenCount: 9, newTokenCount: 4, strategy: "summary", ...more });
const point = (id: string, reason: TrimPoint["reason"] = "compaction") => ({ id, reason }) as TrimPoint;
const loss = { kind: "decision", text: "Use a map.", itemIds: ["r9"] } as const;

test("the report of a compaction belongs to its trim point, and outlives the page", () => {
	const s = storage();
	const reports = new CompactionReports("k", s);
	reports.compacted(compacted({ rulesAdded: ["Never touch it."], losses: [{ ...loss, itemIds: ["r9"] }], lossesOmitted: 2 }));
	equal(reports.byPlace.value.size, 0);
	reports.trimmed(point("other", "trim" as TrimPoint["reason"]));
	reports.trimmed(point("p1"));
	const again = new CompactionReports("k", s).byPlace.value.get("p1");
	equal([again?.rulesAdded, again?.losses.length, again?.omitted], [["Never touch it."], 1, 2]);
	reports.trimmed(point("p2"));
	equal(reports.byPlace.value.has("p2"), false);
});

test("a compaction that masks outputs belongs to its turn, and one without losses has no report", () => {
	const reports = new CompactionReports("k", storage());
	reports.compacted(compacted({ strategy: "mask" }));
	equal([reports.byPlace.value.get("turn")?.before, reports.byPlace.value.get("turn")?.after], [9, 4]);
	reports.compacted(compacted({}));
	reports.trimmed(point("p1"));
	equal([...reports.byPlace.value.keys()], ["turn"]);
});

test("the last five reports of a thread are kept, also if the saved ones are broken", () => {
	const s = storage({ k: "{" });
	const reports = new CompactionReports("k", s);
	for (let i = 0; i < 7; i++) {
		reports.compacted(compacted({ lossesOmitted: 1 }));
		reports.trimmed(point(`p${i}`));
	}
	equal([...new CompactionReports("k", s).byPlace.value.keys()], ["p2", "p3", "p4", "p5", "p6"]);
});

test("an item of a loss is searched by the longest text that both have", () => {
	equal(sharedText("sed -i 's/a/b/' parse.go, which failed", `shell {"command":"sed -i 's/a/b/' parse.go"}`), "sed -i 's/a/b/'");
	equal(sharedText("parse.go", "*** Update File: parse.go"), "parse.go");
	equal(sharedText("nothing alike", "other text"), "");
});
