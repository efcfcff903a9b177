import { TurnChoice } from "../src/store/choice.ts";
import { ThreadStore } from "../src/store/thread.ts";
import { equal, test } from "./check.ts";
import { failure, notification, openThread, serve } from "./server.ts";

const input = [{ type: "text" as const, text: "hi" }];
const started = (id: string) => notification("turn/started", { turn: { id, startedAt: 1 } });

test("a message starts a turn, and steers the turn in progress", async () => {
	const server = serve().on("turn/start", () => ({})).on("turn/steer", () => ({}));
	const store = await openThread(server);
	await store.turns.send(input);
	store.apply(started("now"));
	await store.turns.send(input);
	equal(server.calls, [
		["turn/start", { threadId: "t", input }], ["turn/steer", { threadId: "t", input, expectedTurnId: "now" }],
	]);
});

test("a message that comes too late to steer starts the next turn, and other failures are the caller's", async () => {
	const server = serve().on("turn/start", () => ({})).on("turn/steer", () => {
		throw failure("turnMismatch");
	});
	const store = await openThread(server);
	store.apply(started("now"));
	await store.turns.send(input);
	equal(server.calls.map(([method]) => method), ["turn/steer", "turn/start"]);
	server.on("turn/steer", () => {
		throw failure("overloaded");
	});
	equal(await store.turns.send(input).catch((e: { kind: string }) => e.kind), "overloaded");
	equal(server.of("turn/start").length, 1);
});

test("settings of a turn stay for later turns, unless the server rejects them", async () => {
	const server = serve().on("turn/start", () => ({}));
	const store = await openThread(server);
	await store.turns.send(input, { model: "big", collaborationMode: { mode: "plan" } as never });
	equal([store.settings.resumed.value?.model, store.settings.planMode.value], ["big", true]);
	server.on("turn/start", () => {
		throw failure("");
	});
	await store.turns.send(input, { model: "none" }).catch(() => undefined);
	equal(store.settings.resumed.value?.model, "big");
});

test("only a turn in progress is interrupted", async () => {
	const server = serve().on("turn/interrupt", () => ({}));
	const store = await openThread(server);
	await store.turns.interrupt();
	store.apply(started("now"));
	await store.turns.interrupt();
	equal(server.of("turn/interrupt"), [{ threadId: "t", turnId: "now" }]);
});

test("the end of another turn does not end the one in progress", async () => {
	const store = await openThread(serve());
	store.apply(started("now"));
	store.apply(notification("turn/completed", { turn: { id: "before", status: "completed" } }));
	equal(store.turns.current.value, "now");
	store.apply(notification("turn/completed", { turn: { id: "now", status: "completed" } }));
	equal(store.turns.current.value, null);
});

test("a request that the server sends again is named until something comes, and other errors are notices", async () => {
	const store = await openThread(serve());
	const error = (message: string, willRetry: boolean, turnId = "now") =>
		store.apply(notification("error", { turnId, willRetry, error: { message } }));
	store.apply(started("now"));
	error("busy", true);
	equal(store.turns.retrying.value, "busy");
	store.apply(notification("item/started", { turnId: "now", item: { type: "agentMessage", id: "m", text: "" } }));
	equal(store.turns.retrying.value, "");
	error("of the turn", false);
	error("of another", false, "old");
	equal(store.notices.list.value.map((n) => n.text), ["of another"]); // the end of the turn shows the first one
});

test("a thread in plan mode stays in it, also if the composer is there before the thread", async () => {
	const server = serve().on("thread/resume", () => ({
		thread: { id: "t", cwd: "/w", status: { type: "idle" } }, model: "m", collaborationMode: { mode: "plan" },
	}));
	const store = new ThreadStore("t", server.caller);
	const choice = new TurnChoice(store.settings);
	await store.open();
	equal([choice.planMode, choice.overrides()], [true, {}]);
	choice.setPlanMode(false);
	equal(choice.overrides(), { collaborationMode: { mode: "default", settings: { model: "m" } } });
	store.settings.override(choice.overrides());
	equal([choice.planMode, choice.overrides()], [false, {}]);
});

test("a text is a message, a command of the shell or a slash command", async () => {
	const server = serve().on("thread/shellCommand", () => ({})).on("slashCommand/execute", () => ({}))
		.on("turn/start", ({ input }: { input: { text: string }[] }) => {
			if (input[0]!.text === "/compact") throw failure("slashCommand");
			return {};
		});
	const { turns } = await openThread(server);
	const image = { url: "data:image/png;base64,AA" };
	await turns.submit("! ls", [], {});
	await turns.submit("! ls", [image], {});
	await turns.submit("/compact", [], {});
	equal(server.calls, [
		["thread/shellCommand", { threadId: "t", command: "ls" }],
		["turn/start", { threadId: "t", input: [{ type: "text", text: "! ls" }, { type: "image", ...image }] }],
		["turn/start", { threadId: "t", input: [{ type: "text", text: "/compact" }] }],
		["slashCommand/execute", { threadId: "t", text: "/compact" }],
	]);
});
