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
	const usage = { promptTokens: 120, modelContextWindow: 1000, byCategory: [
		{ category: "userMessage", includedTokens: 20 }, { category: "toolOutput", includedTokens: 100 },
		{ category: "reasoning", includedTokens: 0 }] };
	const server = serve().on("thread/shellCommand", () => ({})).on("turn/start", () => ({}))
		.on("slashCommand/parse", ({ text }: { text: string }) => (text === "/unknown" ? null : {}))
		.on("slashCommand/list", () => [{ name: "compact" }, { name: "context" }])
		.on("slashCommand/execute", ({ text }: { text: string }) => ({ command: text.slice(1), result: { usage } }));
	const { turns, notices } = await openThread(server);
	const image = { url: "data:image/png;base64,AA" };
	await turns.submit("! ls", [], {});
	await turns.submit("! ls", [image], {});
	await turns.submit("/compact", [], {});
	await turns.submit("/tmp/a is a file", [], {});
	await turns.submit(" /unknown", [], {});
	equal(server.calls, [
		["thread/shellCommand", { threadId: "t", command: "ls" }],
		["turn/start", { threadId: "t", input: [{ type: "text", text: "! ls" }, { type: "image", ...image }] }],
		["slashCommand/parse", { text: "/compact" }], ["slashCommand/execute", { threadId: "t", text: "/compact" }],
		["turn/start", { threadId: "t", input: [{ type: "text", text: "/tmp/a is a file" }] }],
		["turn/start", { threadId: "t", input: [{ type: "text", text: "/unknown" }] }],
	]);
	const refused = await turns.submit("/unknown", [], {}).catch((e: Error) => e.message);
	equal(refused, "/unknown is no command, and nothing was sent. The commands are /compact, /context. " +
		"To send it as a message, begin with a space.");
	equal(server.of("turn/start").length, 3);
	await turns.submit("/context", [], {});
	await turns.submit("/context", [], {});
	equal(notices.list.value.map((n) => n.text), ["The next request has 120 tokens of 1000 (12 %). By category: " +
		"Tool output 100 · User 20. The tab Context lists the items."]);
});

test("a slash command is executed and not sent to the turn in progress", async () => {
	const server = serve().on("slashCommand/parse", () => ({})).on("slashCommand/execute", () => {
		throw failure("turnActive");
	});
	const { turns } = await openThread(server);
	turns.notified(started("now"));
	equal(await turns.submit("/compact", [], {}).catch((e: { kind: string }) => e.kind), "turnActive");
	equal(server.of("turn/steer"), []);
});

test("the reason of a decline goes to the turn of the question", async () => {
	const server = serve().on("turn/steer", () => ({}));
	const { turns } = await openThread(server);
	await turns.explain("now", "why");
	equal(server.of("turn/steer"), [{ threadId: "t", input: [{ type: "text", text: "why" }], expectedTurnId: "now" }]);
	server.on("turn/steer", () => {
		throw failure("noActiveTurn");
	});
	equal(await turns.explain("now", "why").catch((e: Error) => e.message), "The turn has ended, and the reason was not sent.");
});

test("choices that a turn has taken over end, so that controls show the values of the thread", async () => {
	const server = serve().on("turn/start", () => ({}));
	const store = await openThread(server);
	const choice = new TurnChoice(store.settings);
	choice.policy.value = "never";
	choice.setPlanMode(true);
	await store.turns.submit("hi", [], choice.overrides());
	choice.effort.value = "high";
	choice.settle();
	equal([choice.policy.value, choice.planMode, choice.effort.value], ["", true, "high"]);
	equal(choice.overrides(), { effort: "high" });
});
