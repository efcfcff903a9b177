import { ContextFind } from "../src/store/contextfind.ts";
import { equal, test } from "./check.ts";
import { pass } from "./environment.ts";
import { entry, failure, item, list, openThread, page, serve } from "./server.ts";

const found = (...itemIds: string[]) =>
	({ data: itemIds.map((itemId) => ({ itemId, turnId: "turn" })), nextCursor: null });

test("messages are searched soon after the last key, and the newest match is shown first", async () => {
	const server = serve().on("thread/timeline/list", () => page([entry("a"), entry("b")]))
		.on("thread/searchOccurrences", () => found("a", "b"));
	const store = await openThread(server);
	store.find.open.value = true;
	store.find.search("x");
	store.find.search("xy");
	await pass(200);
	equal(server.of("thread/searchOccurrences").map((p) => p["searchTerm"]), ["xy"]);
	equal(store.find.current, "b");
	store.find.move(1);
	equal(store.find.current, "a");
	store.find.close();
	equal([store.find.current, [...store.find.itemIds]], [null, []]);
});

test("the matches of an older text change nothing", async () => {
	const server = serve();
	const store = await openThread(server);
	const held = server.hold("thread/searchOccurrences");
	store.find.search("old");
	await pass(200);
	store.find.search("new");
	await held[0]!.answer(found("a"));
	equal(store.find.matches.value, []);
});

test("the context is filtered by previews until the server has searched the whole texts", async () => {
	const server = serve()
		.on("context/getItems", () => list(1, [item("one", 0), item("two", 1, { category: "toolOutput" })]));
	const store = await openThread(server);
	const find = new ContextFind(store.requests, store.context);
	const stop = find.start();
	const held = server.hold("context/search");
	find.query.value = "one";
	equal([find.items.value.map((i) => i.id), find.answered.value], [["one"], false]);
	await pass(200);
	await held[0]!.answer({ ids: ["two", "gone"], data: [{ id: "two", index: 1 }, { id: "gone", index: -1 }] });
	equal([find.items.value.map((i) => i.id), find.removed.value.map((m) => m.id), find.answered.value],
		[["two"], ["gone"], true]);
	find.category.value = "userMessage";
	equal(find.items.value, []);
	find.clear();
	equal([find.items.value.length, find.active], [2, false]);
	stop();
});

test("the answer to an older search of the context changes nothing, and a failure is shown", async () => {
	const server = serve();
	const store = await openThread(server);
	const find = new ContextFind(store.requests, store.context);
	const stop = find.start();
	const held = server.hold("context/search");
	find.query.value = "old";
	await pass(200);
	find.query.value = "(";
	find.regex.value = true;
	await held[0]!.answer({ ids: ["a"], data: [] });
	equal(find.found.value, null);
	await pass(200);
	await held[1]!.fail(failure("", "missing )"));
	equal(find.failure.value, "missing )");
	stop();
});
