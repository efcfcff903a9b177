import { equal, test } from "./check.ts";
import { pass } from "./environment.ts";
import { entry, notification, openThread, page, serve } from "./server.ts";
import type { ThreadStore } from "../src/store/thread.ts";

const ids = (store: ThreadStore) => store.items.timeline.entries.map((e) => e.key.split(":").at(-1));

test("pieces of texts and outputs are added to their items", async () => {
	const store = await openThread(serve());
	const items = [
		{ type: "agentMessage", id: "m", text: "a" }, { type: "reasoning", id: "r", summary: ["x"], content: [] },
		{ type: "commandExecution", id: "c", aggregatedOutput: null },
	];
	for (const item of items) store.apply(notification("item/started", { turnId: "turn", item }));
	const add = (method: string, itemId: string, more: object) =>
		store.apply(notification(`item/${method}`, { turnId: "turn", itemId, ...more }));
	add("agentMessage/delta", "m", { delta: "b" });
	add("reasoning/summaryTextDelta", "r", { delta: "y", summaryIndex: 0 });
	add("reasoning/summaryTextDelta", "r", { delta: "z", summaryIndex: 1 });
	add("reasoning/textDelta", "r", { delta: "t", contentIndex: 0 });
	add("commandExecution/outputDelta", "c", { delta: "o" });
	add("agentMessage/delta", "unknown", { delta: "lost" });
	equal(items.map(({ id }) => store.items.timeline.item("turn", id)!.data.item), [
		{ type: "agentMessage", id: "m", text: "ab" }, { type: "reasoning", id: "r", summary: ["xy", "z"], content: ["t"] },
		{ type: "commandExecution", id: "c", aggregatedOutput: "o" },
	]);
});

test("an item is rendered once for the pieces of a frame", async () => {
	const store = await openThread(serve());
	store.apply(notification("item/started", { turnId: "turn", item: entry("m").item }));
	const { version } = store.items.timeline.item("turn", "m")!;
	const before = version.value;
	for (let i = 0; i < 100; i++) {
		store.apply(notification("item/agentMessage/delta", { turnId: "turn", itemId: "m", delta: "." }));
	}
	await pass(20);
	equal(version.value - before, 1);
});

test("the output of a background command is kept when the timeline does not have its item, up to a limit", async () => {
	const store = await openThread(serve());
	const add = (delta: string) =>
		store.apply(notification("item/commandExecution/outputDelta", { turnId: "old", itemId: "c", delta }));
	add("x".repeat(19_999));
	add("yz");
	const output = store.items.outputs.value.get("c")!;
	equal([output.length, output.slice(-3)], [20_000, "xyz"]);
});

test("older and newer pages are added, and requested once at a time", async () => {
	const server = serve().on("thread/timeline/list", () => page([entry("b")], { nextCursor: "older" }));
	const store = await openThread(server);
	const held = server.hold("thread/timeline/list");
	const first = store.items.loadOlder();
	void store.items.loadOlder();
	equal([held.length, held[0]!.params["cursor"]], [1, "older"]);
	await held[0]!.answer(page([entry("a")]));
	await first;
	await store.items.loadOlder();
	await store.items.loadNewer();
	equal([ids(store), held.length], [["a", "b"], 1]); // both ends are there
});

test("a page that was requested before a revert changes nothing, and the end is read again", async () => {
	const server = serve().on("thread/timeline/list", () => page([entry("kept"), entry("gone")], { nextCursor: "older" }));
	const store = await openThread(server);
	const held = server.hold("thread/timeline/list");
	void store.items.loadOlder();
	store.apply(notification("thread/reverted", {}));
	equal(held.length, 2);
	await held[1]!.answer(page([entry("kept")]));
	await held[0]!.answer(page([entry("late")]));
	equal(ids(store), ["kept"]);
	void store.items.loadEnd();
	equal(held.length, 3); // no request is left open
});

test("who waits for the end of a thread gets it, also if a newer request has it", async () => {
	const server = serve();
	const store = await openThread(server);
	const held = server.hold("thread/timeline/list");
	let seen: unknown = null;
	void store.items.loadEnd().then(() => (seen = ids(store)));
	void store.items.loadEnd();
	await held[0]!.answer(page([entry("old")]));
	equal(seen, null);
	await held[1]!.answer(page([entry("new")]));
	equal(seen, ["new"]);
});

test("an item that is not loaded is loaded with the page around it, and its section opens", async () => {
	const point = { type: "trimPoint", position: 0, trimmed: false, label: "Earlier", hiddenMessageCount: 1, trimPoint: { id: "p" } };
	const server = serve();
	const store = await openThread(server);
	server.on("thread/timeline/list", () => page([entry("early"), point, entry("late")]));
	equal(await store.items.load("early", "turn"), true);
	equal([server.of("thread/timeline/list")[0]!["around"], [...store.items.open.value], ids(store)],
		["early", ["p"], ["early", "p", "late"]]);
	equal(await store.items.load("nowhere", "turn"), false);
});

test("a cut item is read as a whole, and a failure is shown", async () => {
	const server = serve().on("thread/timeline/list", () => page([{ ...entry("m", { text: "be…" }), truncated: true }]));
	const store = await openThread(server);
	const [cut] = store.items.timeline.entries;
	await store.items.readItem(cut!);
	equal(store.notices.list.value.map((n) => n.kind), ["error"]);
	server.on("thread/item/read", () => ({ item: entry("m", { text: "beginning and end" }).item }));
	await store.items.readItem(cut!);
	const { data, whole } = store.items.timeline.item("turn", "m")!;
	equal([(data.item as { text: string }).text, whole, data.truncated], ["beginning and end", true, false]);
});

test("the last message is the loaded one, or is read if the end is not loaded", async () => {
	const message = (text: string) => ({ type: "userMessage", id: "u", content: [{ type: "text", text }] });
	const server = serve().on("thread/timeline/list", () => page([entry("u", message("loaded"))]))
		.on("thread/turns/list", () => ({ data: [{ items: [message("read")] }] }));
	const store = await openThread(server);
	equal(await store.items.lastMessage(), "loaded");
	server.on("thread/timeline/list", () => page([entry("u", message("early"))], { newerCursor: "newer" }));
	await store.items.loadEnd();
	equal(await store.items.lastMessage(), "read");
});
