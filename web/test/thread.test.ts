import { ThreadStore } from "../src/store/thread.ts";
import { equal, test } from "./check.ts";
import { entry, failure, FakeServer, item, list, notification, openThread, page, serve } from "./server.ts";

const texts = (store: ThreadStore) => store.items.rows.value.map((e) => e.key.split(":").at(-1));

test("opening a thread reads its end, its context and its configuration", async () => {
	const server = serve().on("thread/timeline/list", () => page([entry("a")]))
		.on("context/getItems", () => list(7, [item("c", 0)]))
		.on("config/read", () => ({ config: { compaction: { limit_percent: 80 }, model_auto_compact_token_limit: 5000 } }));
	const store = new ThreadStore("t", server.caller);
	equal(store.phase.value, "loading");
	await store.open();
	equal([store.phase.value, texts(store), store.context.revision.value, store.settings.thread.value?.cwd],
		["ready", ["a"], 7, "/w"]);
	equal(store.settings.compaction.value, { limitTokens: 5000, limitShare: 0.8, targetShare: 0.7 });
});

test("a thread that cannot be opened says why, and one that another program has is shown read-only", async () => {
	const open = async (kind: string) => {
		const server = serve().on("thread/resume", () => {
			throw failure(kind, "no");
		});
		const store = new ThreadStore("t", server.caller);
		await store.open();
		return [store.phase.value, store.failure.value, server.of("thread/timeline/list").length];
	};
	equal(await open("threadLocked"), ["locked", "no", 1]);
	equal(await open("threadArchived"), ["archived", "no", 1]);
	equal(await open("threadNotFound"), ["failed", "no", 0]);
});

test("a connection that is lost while a thread opens is not a failure of the thread", async () => {
	const server = serve().on("thread/resume", () => {
		throw failure("disconnected");
	});
	const store = new ThreadStore("t", server.caller);
	equal(await store.open().catch((e: { kind: string }) => e.kind), "disconnected");
	equal([store.phase.value, store.failure.value], ["loading", ""]);
});

test("a reconnect reads the thread again: what the server stored replaces what came live", async () => {
	const server = serve();
	const store = await openThread(server);
	store.apply(notification("turn/started", { turn: { id: "turn", startedAt: 1 } }));
	store.apply(notification("item/completed", { turnId: "turn", item: entry("live").item }));
	store.apply(notification("error", { willRetry: true, error: { message: "busy" } }));
	equal([store.turns.current.value, store.turns.retrying.value, texts(store)], ["turn", "busy", ["live"]]);
	server.on("thread/timeline/list", () => page([entry("live"), entry("missed")]));
	await store.open();
	equal([store.turns.current.value, store.turns.retrying.value, texts(store)], [null, "", ["live", "missed"]]);
});

test("a turn that is in progress when the thread opens can be steered", async () => {
	const server = serve().on("thread/resume", () => ({ thread: { id: "t", status: { type: "active" } } }))
		.on("thread/timeline/list", () => page([{ type: "turnStarted", position: 0, turnId: "now" }]));
	equal((await openThread(server)).turns.current.value, "now");
});

test("notifications change the name and the status of the thread", async () => {
	const store = await openThread(serve());
	store.apply(notification("thread/name/updated", { threadName: "new" }));
	store.apply(notification("thread/status/changed", { status: { type: "active", activeFlags: [] } }));
	equal([store.settings.thread.value?.name, store.settings.thread.value?.status.type], ["new", "active"]);
});

test("watchers get a notification after the thread has it, until they end", async () => {
	const store = await openThread(serve());
	const seen: unknown[] = [];
	const stop = store.watch(() => seen.push(store.turns.current.value));
	store.apply(notification("turn/started", { turn: { id: "a", startedAt: 1 } }));
	stop();
	store.apply(notification("turn/started", { turn: { id: "b", startedAt: 1 } }));
	equal(seen, ["a"]);
});

test("suggestions are requested on opening if the configuration wants them", async () => {
	const server = serve().on("config/read", () => ({ config: { context: { economy: { mode: "suggest" } } } }));
	const store = new ThreadStore("t", server.caller);
	await store.open();
	equal(server.of("context/suggest").length, 1);
});

test("a part of a thread is made once", () => {
	class Part {}
	const store = new ThreadStore("t", new FakeServer().caller);
	equal([store.part(Part) === store.part(Part), store.part(Part) instanceof Part], [true, true]);
});
