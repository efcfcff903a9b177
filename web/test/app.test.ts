import * as app from "../src/store/app.ts";
import { modelStore } from "../src/store/models.ts";
import { titleOf } from "../src/store/titles.ts";
import { inbox, questions } from "../src/store/questions.ts";
import { equal, test } from "./check.ts";
import { emit, pass, settle } from "./environment.ts";
import { FakeServer, list, page, serve } from "./server.ts";

const thread = (id: string, change: object = {}) =>
	({ id, name: null, preview: "", cwd: "/w", updatedAt: 1, status: { type: "idle" }, ...change });

interface Message {
	kind: string;
	link: number;
	text?: string;
}

/** Editor shows the page, and passes its messages to a server. It is the transport of the page in tests. */
class Editor {
	link = 0;

	constructor(readonly server: FakeServer) {
		Object.assign(globalThis, { acquireVsCodeApi: () => this });
	}

	getState(): undefined {
		return undefined;
	}

	setState(): void {}

	postMessage(m: Message): void {
		this.link = m.link;
		if (m.kind === "open") this.tell({ kind: "opened", link: m.link });
		if (m.kind === "message") void this.answer(JSON.parse(m.text!));
	}

	private async answer({ id, method, params }: { id?: number; method: string; params: never }): Promise<void> {
		if (id === undefined) return;
		const call = this.server.caller.call as unknown as (method: string, params: unknown) => Promise<unknown>;
		await call(method, params).then((result) => this.send({ id, result }),
			({ code, message, kind }) => this.send({ id, error: { code, message, data: { kind } } }));
	}

	/** send sends a message of the server to the page. */
	send(message: object): void {
		this.tell({ kind: "message", link: this.link, text: JSON.stringify(message) });
	}

	notify(method: string, params: object): Promise<void> {
		this.send({ method, params });
		return pass(20);
	}

	lose(): void {
		this.tell({ kind: "closed", link: this.link });
	}

	private tell(m: Message): void {
		void Promise.resolve().then(() => emit("message", { data: m }));
	}
}

/** start starts the page with two threads. */
async function start(): Promise<Editor> {
	Object.assign(document, { addEventListener: () => undefined });
	const server = serve().on("initialize", () => ({})).on("model/list", () => ({ data: [{ model: "m" }] }))
		.on("serverRequest/list", () => ({ data: [] })).on("thread/unsubscribe", () => ({}))
		.on("thread/list", () => ({ data: [thread("a"), thread("b")], nextCursor: "more" }));
	const editor = new Editor(server);
	await app.start();
	await pass(200);
	return editor;
}

async function openPage(id: string): Promise<void> {
	location.hash = `#/thread/${id}`;
	emit("hashchange", {});
	await pass(20);
}

const ids = () => app.threads.value.map((t) => t.id);

test("the page introduces itself, and lists threads and models", async () => {
	const { server } = await start();
	equal([app.connection.value?.state.value, ids(), modelStore.models.value.length], ["open", ["a", "b"], 1]);
	equal(server.calls[0]![0], "initialize");
	equal((server.calls[0]![1] as { capabilities: object }).capabilities,
		{ experimentalApi: true, contextItemsDelta: true, slashCommands: "refuse" });
});

test("notifications change the list: new, renamed, working, archived and deleted threads", async () => {
	const editor = await start();
	const stored = ["appserver.losses.b", "appserver.plan.b", "appserver.draft.b"];
	for (const key of stored) localStorage.setItem(key, "[]");
	await editor.notify("thread/started", { thread: thread("c") });
	await editor.notify("thread/name/updated", { threadId: "a", threadName: "first" });
	await editor.notify("thread/status/changed", { threadId: "a", status: { type: "active", activeFlags: [] } });
	await editor.notify("thread/archived", { threadId: "c" });
	await editor.notify("thread/deleted", { threadId: "b" });
	equal(app.threads.value.map((t) => [t.id, t.name, t.status.type]), [["a", "first", "active"]]);
	equal(stored.map((key) => localStorage.getItem(key)), [null, null, null]);
});

test("an archived thread leaves the page, and a thread that is about to be opened stays in the address", async () => {
	const editor = await start();
	await openPage("a");
	await editor.notify("thread/archived", { threadId: "a" });
	equal([app.current.value?.id, location.hash], [undefined, ""]);
	await openPage("b");
	app.show("a"); // the browser reports the new address later than the notification comes
	await editor.notify("thread/archived", { threadId: "b" });
	emit("hashchange", {});
	await pass(20);
	equal([app.current.value?.id, location.hash], ["a", "#/thread/a"]);
});

test("the threads of an older search change nothing", async () => {
	const { server } = await start();
	const held = server.hold("thread/search");
	app.searchThreads("old");
	await pass(200);
	app.searchThreads("new");
	await pass(200);
	await held[1]!.answer({ data: [{ thread: thread("n") }] });
	await held[0]!.answer({ data: [{ thread: thread("o") }] });
	await pass(20);
	equal([ids(), held.map((h) => h.params["searchTerm"])], [["n"], ["old", "new"]]);
});

test("the threads of the other filter change nothing, and are not added", async () => {
	const { server } = await start();
	const held = server.hold("thread/list");
	void app.loadMoreThreads();
	app.listThreads(true);
	await pass(20);
	await held[1]!.answer({ data: [thread("old")], nextCursor: null });
	await held[0]!.answer({ data: [thread("c")], nextCursor: null });
	await pass(20);
	equal([ids(), held.map((h) => h.params["archived"])], [["old"], [false, true]]);
	app.listThreads(false);
	app.listThreads(true);
	await pass(20);
	await held[3]!.answer({ data: [thread("old")], nextCursor: null });
	await held[2]!.answer({ data: [thread("a")], nextCursor: null });
	await pass(20);
	equal(ids(), ["old"]);
});

test("the next page of threads is added once, without those that are listed", async () => {
	const { server } = await start();
	server.on("thread/list", () => ({ data: [thread("b"), thread("c")], nextCursor: null }));
	const before = server.of("thread/list").length;
	void app.loadMoreThreads();
	void app.loadMoreThreads();
	await pass(20);
	equal([ids(), server.of("thread/list").length - before], [["a", "b", "c"], 1]);
});

test("the address opens a thread, another one closes it, and notifications reach the open one", async () => {
	const editor = await start();
	await openPage("a");
	await editor.notify("turn/started", { threadId: "a", turn: { id: "t1", startedAt: 1 } });
	await editor.notify("turn/started", { threadId: "b", turn: { id: "t2", startedAt: 1 } });
	equal([app.current.value?.id, app.current.value?.turns.current.value], ["a", "t1"]);
	await openPage("b");
	equal([app.current.value?.id, editor.server.of("thread/unsubscribe")], ["b", [{ threadId: "a" }]]);
	await editor.notify("thread/deleted", { threadId: "b" });
	equal([app.current.value, location.hash], [null, ""]);
});

test("after a reconnect the threads and the open thread are read again, and open questions come again", async () => {
	const editor = await start();
	await openPage("a");
	const ask = (id: number) => editor.send({ id, method: "item/fileChange/requestApproval", params: { threadId: "a", itemId: "i" } });
	ask(1);
	ask(2);
	await pass(200);
	equal(questions.value.map((q) => q.id), [1, 2]);
	editor.lose();
	await settle();
	equal([app.connection.value?.state.value, questions.value.every((q) => q.stale)], ["waiting", true]);
	editor.server.calls.length = 0;
	editor.server.on("context/getItems", () => {
		ask(2);
		return list(9, []);
	}).on("thread/timeline/list", () => page([]));
	await pass(250);
	await pass(200);
	equal([app.connection.value?.state.value, app.current.value?.context.revision.value,
		questions.value.map((q) => q.id)], ["open", 9, [2]]);
	equal(["initialize", "thread/list", "thread/resume"].map((m) => editor.server.of(m).length), [1, 2, 1]);
	equal(editor.server.of("thread/list").map((p) => "sourceKinds" in p).sort(), [false, true]);
});

test("the inbox is read once for changes that come together", async () => {
	const editor = await start();
	editor.server.calls.length = 0;
	editor.server.on("serverRequest/list", () => ({ data: [{ threadId: "a" }] }));
	for (const id of ["a", "b"]) await editor.notify("thread/status/changed", { threadId: id, status: { type: "idle" } });
	await pass(200);
	equal([inbox.value.length, editor.server.of("serverRequest/list").length], [1, 1]);
});

test("the first message of a thread is its preview, and the end of its turn is announced", async () => {
	const editor = await start();
	await openPage("a");
	const item = { type: "userMessage", id: "u", content: [{ type: "text", text: "fix it" }] };
	await editor.notify("item/completed", { threadId: "a", turnId: "t1", item });
	await editor.notify("turn/completed", { threadId: "a", turn: { id: "t1", status: "completed" } });
	equal([app.threads.value[0]!.preview, app.announcement.value], ["fix it", "Turn completed."]);
});

test("a thread has its first message as its title, also if the list lacks it", async () => {
	const editor = await start();
	editor.server.on("thread/resume", () => ({ thread: thread("unlisted") }));
	await openPage("unlisted");
	const say = (text: string) => editor.notify("item/completed",
		{ threadId: "unlisted", turnId: "t1", item: { type: "userMessage", id: "u", content: [{ type: "text", text }] } });
	await say("fix it");
	await say("and test it");
	equal(titleOf(app.current.value!.settings.thread.value!), "fix it");
});

test("a failure of a request of the page is shown, but not a lost connection", async () => {
	const editor = await start();
	equal([await app.attempt((c) => c.call("thread/fork", { threadId: "a" })), app.failure.value],
		[null, "no answer to thread/fork"]);
	app.failure.value = "";
	editor.lose();
	await settle();
	equal([await app.attempt((c) => c.call("thread/fork", { threadId: "a" })), app.failure.value], [null, ""]);
});
