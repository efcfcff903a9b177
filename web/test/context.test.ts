import { applyDelta } from "../src/store/context.ts";
import type { ContextItemsNotification } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";
import { failure, item, list, notification, openThread, serve } from "./server.ts";

function delta(change: Partial<ContextItemsNotification>): ContextItemsNotification {
	return { full: false, items: [], removedIds: [], total: 0, ...change } as ContextItemsNotification;
}

const three = [item("a", 0), item("b", 1), item("c", 2)];

test("a delta removes, changes and inserts items, and numbers them", () => {
	const next = applyDelta(three, delta({
		removedIds: ["a"], items: [item("x", 1), item("c", 2, { included: false })], total: 3,
	}))!;
	equal(next.map((i) => [i.id, i.index, i.included]), [["b", 0, true], ["x", 1, true], ["c", 2, false]]);
});

test("a delta that does not fit asks for the whole list", () => {
	equal(applyDelta(three, delta({ removedIds: ["a"], total: 3 })), null);
	equal(applyDelta([], delta({ full: true, items: three, total: 3 }))!.length, 3);
});

test("a notification changes the list, and one that does not fit makes the store read it", async () => {
	const server = serve().on("context/getItems", () => list(1, three));
	const store = await openThread(server);
	store.apply(notification("ContextItems",
		delta({ items: [item("b", 1, { included: false })], total: 3, revision: 2 })));
	equal([store.context.items.value.map((i) => i.included), store.context.revision.value], [[true, false, true], 2]);
	equal(server.of("context/getItems").length, 0);
	const held = server.hold("context/getItems");
	store.apply(notification("ContextItems", delta({ removedIds: ["a"], total: 9, revision: 3 })));
	await held[0]!.answer(list(3, [item("d", 0)]));
	equal([store.context.items.value.map((i) => i.id), store.context.revision.value], [["d"], 3]);
});

test("a list that changes between two of its pages is read again", async () => {
	const server = serve();
	const store = await openThread(server);
	const answers = [
		list(4, [item("a", 0)], "2"), list(5, [item("b", 1)]), list(5, [item("x", 0)], "2"), list(5, [item("y", 1)]),
	];
	server.on("context/getItems", () => answers.shift());
	await store.context.read();
	equal([store.context.items.value.map((i) => i.id), store.context.revision.value], [["x", "y"], 5]);
	equal(server.of("context/getItems").map((p) => p["cursor"]), [null, "2", null, "2"]);
});

test("the answer to an older request for the list changes nothing, and who waits for it gets the newest", async () => {
	const server = serve();
	const store = await openThread(server);
	const held = server.hold("context/getItems");
	let seen: unknown = null;
	void store.context.read().then(() => (seen = store.context.revision.value));
	void store.context.read();
	await held[0]!.answer(list(2, [item("old", 0)]));
	equal([store.context.items.value, seen], [[], null]);
	await held[1]!.answer(list(3, [item("new", 0)]));
	equal([store.context.items.value.map((i) => i.id), seen], [["new"], 3]);
});

test("a list that cannot be read is a notice, and the former list stays", async () => {
	const server = serve().on("context/getItems", () => list(1, three));
	const store = await openThread(server);
	server.on("context/getItems", () => {
		throw failure("", "no list");
	});
	await store.context.read();
	equal([store.context.items.value.length, store.notices.list.value.map((n) => n.text)], [3, ["no list"]]);
});

test("the text of an item is the one that is sent, and the original of an excluded item", async () => {
	const server = serve();
	const store = await openThread(server);
	const answer = (included: boolean) => server.on("context/readItem", () => ({
		item: item("a", 0, { included }), sent: [{ type: "text", text: "short" }],
		original: [{ type: "text", text: "one" }, { type: "image", url: "x" }, { type: "text", text: "two" }],
	}));
	answer(true);
	equal(await store.context.readText("a"), { text: "short", others: 0 });
	answer(false);
	equal(await store.context.readText("a"), { text: "one\ntwo", others: 1 });
});
