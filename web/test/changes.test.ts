import { changesOf, turnNames } from "../src/store/changes.ts";
import { equal, test } from "./check.ts";
import { pass, settle } from "./environment.ts";
import { entry, failure, item, list, notification, openThread, page, serve, type FakeServer } from "./server.ts";

const file = (path: string) => ({ path, oldPath: null, kind: "modified", additions: 1, deletions: 0, binary: false });
const diff = (...paths: string[]) =>
	({ diff: "", cut: false, summary: { files: paths.map(file) }, turns: [{ turnId: "t1" }, { turnId: "t2" }] });

const served = (): FakeServer => serve().on("thread/checkpoint/list", () => ({ data: [] }))
	.on("thread/diff/read", (p: { turnId?: string }) => diff(p.turnId ?? "all"));

test("the changes of the last turn are shown first, and other ones when they are chosen", async () => {
	const server = served()
		.on("thread/checkpoint/diff", (p: { turnId: string; toTurnId: string | null }) => diff(`${p.turnId}-${p.toTurnId}`));
	const c = changesOf(await openThread(server));
	const shown = async (scope: string) => {
		c.choose(scope);
		equal(c.phase.value, "loading");
		await c.load();
		return c.files.value.map((f) => f.path);
	};
	await c.load();
	equal(c.files.value.map((f) => f.path), ["t2"]);
	equal([await shown("thread"), await shown("turn:t1"), await shown("since:p"), await shown("between:p:q")],
		[["all"], ["t1"], ["p-null"], ["p-q"]]);
});

test("the answer for a scope that was left changes nothing", async () => {
	const server = served();
	const c = changesOf(await openThread(server));
	const held = server.hold("thread/diff/read");
	c.choose("turn:t1");
	void c.load();
	c.choose("thread");
	void c.load();
	await held[1]!.answer(diff("all"));
	await held[0]!.answer(diff("t1"));
	equal(c.files.value.map((f) => f.path), ["all"]);
});

test("changes stay while the connection is lost, and other failures have their reason", async () => {
	const server = served();
	const c = changesOf(await openThread(server));
	await c.load();
	const fail = async (kind: string) => {
		server.on("thread/diff/read", () => {
			throw failure(kind);
		});
		await c.load();
		return [c.phase.value, c.failureKind.value, c.files.value.length];
	};
	equal([await fail("disconnected"), await fail("checkpointsOff")], [["ready", "disconnected", 1], ["failed", "checkpointsOff", 1]]);
});

test("the turn in progress shows its changes as they come, and others are read again soon", async () => {
	const server = served();
	const store = await openThread(server);
	const c = changesOf(store);
	const stop = c.start();
	store.apply(notification("turn/diff/updated", { diff: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" }));
	equal(c.files.value.map((f) => [f.path, f.additions, f.deletions]), [["x", 1, 1]]);
	server.calls.length = 0;
	for (const method of ["turn/completed", "thread/reverted"]) store.apply(notification(method, { turn: { id: "t2" } }));
	await pass(300);
	equal(server.of("thread/diff/read").length, 2); // of the thread and of its last turn, once
	stop();
});

test("a line of a file that the scope lacks is looked for in the whole thread, and a notice says if it is nowhere", async () => {
	const server = served().on("thread/diff/read", (p: { turnId?: string }) => diff(p.turnId ? "other" : "src/a.go"));
	const store = await openThread(server);
	const c = changesOf(store);
	await c.load();
	c.reveal("/w/src/a.go", 3);
	equal(c.scope.value, "thread");
	await c.load();
	equal([c.find("/w/src/a.go")?.path, c.target.value?.line], ["src/a.go", 3]);
	c.reveal("nowhere", 1);
	await settle();
	equal([c.target.value, store.notices.list.value.map((n) => n.kind)], [null, ["warning"]]);
});

test("each turn has a name, also if its message has no text or is not loaded", async () => {
	const message = (turnId: string, content: object[]) =>
		({ ...entry(turnId), turnId, item: { type: "userMessage", id: turnId, content } });
	const store = await openThread(served()
		.on("thread/timeline/list", () => page([
			message("text", [{ type: "text", text: "fix it" }]), message("image", [{ type: "image", url: "data:" }]),
			{ ...entry("c"), turnId: "compaction", item: { type: "contextCompaction", id: "c" } },
		]))
		.on("context/getItems", () => list(1, [item("first words", 0, { turnId: "early" })])));
	equal([...turnNames(store)], [
		["text", "fix it"], ["image", "A message without text"], ["compaction", "Compaction of the context"],
		["early", "first words"],
	]);
});
