import { equal, test } from "./check.ts";
import { settle } from "./environment.ts";
import { failure, list, openThread, serve } from "./server.ts";

test("undo and redo wait for each other, and each has the revision that the former made", async () => {
	const server = serve().on("context/getItems", () => list(7, []));
	const store = await openThread(server);
	const undos = server.hold("context/undo");
	const redos = server.hold("context/redo");
	void store.edits.undo();
	void store.edits.undo();
	void store.edits.redo();
	await settle();
	equal([undos.map((h) => h.params["expectedRevision"]), redos.length], [[7], 0]);
	await undos[0]!.answer({ revision: 8 });
	await undos[1]!.answer({ revision: 9 });
	equal([undos.map((h) => h.params["expectedRevision"]), redos.map((h) => h.params["expectedRevision"])], [[7, 8], [9]]);
});

test("an undo after the edit of another client does nothing: the context is read again, and the next undo works", async () => {
	const server = serve().on("context/undo", () => {
		throw failure("staleRevision");
	});
	const store = await openThread(server);
	await store.edits.undo();
	await settle();
	equal([server.of("context/getItems").length, store.notices.list.value.map((n) => n.kind)], [1, ["error"]]);
	server.on("context/undo", () => ({ revision: 2 }));
	await store.edits.undo();
	equal(server.of("context/undo").length, 2);
});

test("the undo of a trim undoes nothing if another edit followed", async () => {
	const server = serve().on("context/undo", () => ({}))
		.on("context/listEdits", () => ({ revision: 3, edits: [{ op: "trim", undone: false }, { op: "pin", undone: false }] }));
	const store = await openThread(server);
	await store.edits.undoTrim();
	equal([server.of("context/undo").length, store.notices.list.value.map((n) => n.kind)], [0, ["warning"]]);
	server.on("context/listEdits", () => ({ revision: 4, edits: [{ op: "trim", undone: false }, { op: "pin", undone: true }] }));
	await store.edits.undoTrim();
	equal(server.of("context/undo"), [{ threadId: "t", expectedRevision: 4 }]);
});
