// The team of a thread: what its agents do, say and spend.

import { agents, agentsNotified, isInTeam } from "../src/store/agents.ts";
import { sumOf, Team } from "../src/store/team.ts";
import type { ServerNotification, Thread } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";
import { pass, settle } from "./environment.ts";
import { entry, notification, openThread, page, serve } from "./server.ts";

const agent = (id: string, of = "t", status: object = { type: "idle" }) => ({
	id, name: null, preview: id, parentThreadId: of, agentNickname: id.toUpperCase(), createdAt: 1, status,
}) as unknown as Thread;

const about = (threadId: string, method: string, params: object): ServerNotification =>
	notification(method, { threadId, ...params });

const turn = (status: string, text = "", error: object | null = null) =>
	({ id: "1", status, error, items: text ? [{ type: "agentMessage", id: "m", text }] : [] });

const call = (tool: string, id: string, change: object = {}) => ({
	type: "collabAgentToolCall", id: `${tool} ${id}`, tool, status: "completed", receiverThreadIds: [id], agentsStates: {}, ...change });

test("a team has the agents of a thread, with the ends of their last turns, which notifications replace", async () => {
	agents.value = [];
	const server = serve().on("thread/list", () => ({ data: [agent("a"), agent("b"), agent("c", "b")], nextCursor: null }))
		.on("thread/turns/list", ({ threadId }: { threadId: string }) =>
			({ data: [threadId === "b" ? turn("failed", "", { message: "no key" }) : turn("completed", `${threadId} did`)] }));
	const store = await openThread(server);
	const team = store.part(Team);
	await team.read();
	equal(server.of("thread/list")[0]!["ancestorThreadId"], "t");
	equal(team.members.value.map((t) => t.id).join(), "a,b,c");
	equal(["a", "b", "c"].map((id) => `${team.phaseOf(id)} ${team.messageOf(id)}`).join(),
		"done a did,failed no key,done c did");

	const tell = (n: ServerNotification) => {
		agentsNotified(n, server.caller, () => true);
		store.overhear(n);
	};
	tell(about("a", "thread/status/changed", { status: { type: "active", activeFlags: [] } }));
	equal(team.phaseOf("a"), "runs");
	tell(about("a", "thread/status/changed", { status: { type: "active", activeFlags: ["waitingOnApproval"] } }));
	equal(team.phaseOf("a"), "asks");
	tell(about("b", "thread/status/changed", { status: { type: "active", activeFlags: [] } }));
	tell(about("b", "item/started", { turnId: "1", item: call("wait", "c", { status: "inProgress" }) }));
	equal(team.phaseOf("b"), "waits");
	tell(about("b", "item/completed", { turnId: "1", item: call("wait", "c") }));
	equal(team.phaseOf("b"), "runs");
	tell(about("b", "thread/status/changed", { status: { type: "idle" } }));
	tell(about("b", "turn/completed", { turn: turn("interrupted") }));
	equal(team.phaseOf("b"), "interrupted");
	tell(about("other", "turn/completed", { turn: turn("completed", "no member") }));
	equal(team.messageOf("other"), "");
	equal(isInTeam("c", "t") && !isInTeam("t", "c") && !isInTeam("other", "t"), true);
});

test("an agent is closed from the call that closed it to the one that opened it", async () => {
	agents.value = [agent("a")];
	const store = await openThread(serve().on("thread/list", () => ({ data: [], nextCursor: null }))
		.on("thread/timeline/list", () => page([entry("spawn", call("spawnAgent", "a")), entry("close", call("closeAgent", "a"))])));
	const team = store.part(Team);
	equal(team.phaseOf("a"), "closed");
	store.apply(notification("item/completed", { turnId: "turn", item: call("resumeAgent", "a") }));
	equal(team.phaseOf("a"), null);
});

test("the spent tokens and money of a thread and its agents are added, unless a price is missing", async () => {
	agents.value = [agent("a")];
	const usage = (total: number, cost: number | null) => ({ nextCursor: null, total: { tokens: { totalTokens: total } },
		data: [{ provider: "p", model: "m", cost, turnId: "1" }] });
	const server = serve().on("thread/list", () => ({ data: [agent("a")], nextCursor: null }))
		.on("thread/turns/list", () => ({ data: [] }))
		.on("thread/usage/list", (p: { threadId: string }) => (p.threadId === "a" ? usage(100, 1e6) : usage(50, 5e5)))
		.on("model/list", () => ({ data: [{ model: "m", prices: { input: 2, currency: "USD" } }] }));
	const store = await openThread(server);
	const team = store.part(Team);
	await team.read();
	await pass(500);
	await settle();
	equal(JSON.stringify(sumOf([...team.spent.value.values()])), '{"tokens":150,"money":{"sum":3,"currency":"USD"}}');
	equal(sumOf([{ tokens: 1, money: null }, { tokens: 2, money: { sum: 1, currency: "USD" } }]).money, null);
	store.overhear(about("a", "thread/tokenUsage/updated", { turnId: "1", tokenUsage: {} }));
	await pass(500);
	equal(server.of("thread/usage/list").length, 3);
	store.dispose();
});

test("a status of an unknown thread reads the agents again", async () => {
	agents.value = [];
	const server = serve().on("thread/list", () => ({ data: [agent("n")], nextCursor: null }));
	const changed = about("n", "thread/status/changed", { status: { type: "idle" } });
	agentsNotified(changed, server.caller, () => true);
	await pass(200);
	equal(server.calls.length, 0);
	agentsNotified(changed, server.caller, () => false);
	await pass(200);
	await settle();
	equal(agents.value.map((t) => t.id).join(), "n");
	agentsNotified(about("n", "thread/deleted", {}), server.caller, () => true);
	equal(agents.value.length, 0);
});
