import { turnName } from "../src/store/reverts.ts";
import { equal, test } from "./check.ts";
import { failure, notification, openThread, serve } from "./server.ts";

const named = (message: string) => ({ name: message, message });

test("the message of a removed turn goes to an empty composer, and its undo takes it back", async () => {
	const server = serve().on("thread/revert/undo", () => ({ restoredTurnIds: ["x"] }));
	const store = await openThread(server);
	store.reverts.removed({ ids: ["x"], first: named("again"), last: named("again") });
	equal(store.draft.text.value, "again");
	await store.reverts.undo();
	equal([server.of("thread/revert/undo"), store.draft.text.value], [[{ threadId: "t", expectedTurnId: "x" }], ""]);
	equal([store.reverts.removals.value, store.notices.list.value.map((n) => n.kind)], [[], ["done"]]);
});

test("the last revert is undone first, and none after a turn begins", async () => {
	const server = serve().on("thread/revert/undo", () => ({ restoredTurnIds: [] }));
	const store = await openThread(server);
	for (const id of ["a", "b"]) store.reverts.removed({ ids: [id], first: named(id), last: named(id) });
	await store.reverts.undo();
	equal(server.of("thread/revert/undo").map((p) => p["expectedTurnId"]), ["b"]);
	store.apply(notification("turn/started", { turn: { id: "new", startedAt: 1 } }));
	await store.reverts.undo();
	equal(server.of("thread/revert/undo").length, 1);
});

test("a revert that cannot be undone any more is not offered, and another failure keeps the offer", async () => {
	const server = serve();
	const store = await openThread(server);
	store.reverts.removed({ ids: ["a"], first: named(""), last: named("") });
	for (const [kind, left] of [["overloaded", 1], ["staleTurn", 0]] as const) {
		server.on("thread/revert/undo", () => {
			throw failure(kind);
		});
		await store.reverts.undo();
		equal([store.reverts.removals.value.length, store.reverts.undoing.value], [left, false]);
	}
});

test("a turn has the name of what began it", () => {
	const name = (item: object | undefined) => turnName(item as never).name;
	equal([name(undefined), name({ type: "commandExecution", command: "ls" }), name({ type: "userMessage", content: [] })],
		["A turn without a message", "! ls", "A message without text"]);
});
