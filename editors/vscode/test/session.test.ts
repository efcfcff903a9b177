// One run of the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../src/mux.ts";
import { Session, type SessionEvents } from "../src/session.ts";

/**
 * FakeServer answers each request by a table, as soon as it is sent. Methods that are not in the table are rejected.
 */
class FakeServer {
	readonly sent: Message[] = [];
	readonly seen: string[] = [];
	readonly session: Session;
	choose: (title: string | undefined) => void = () => undefined;

	constructor(results: Record<string, unknown>, threadId: string | null) {
		const events: SessionEvents = {
			ask: () => new Promise((choose) => (this.choose = choose)), show: () => undefined,
			late: () => this.seen.push("late"),
			current: (id) => this.seen.push(`current ${id}`),
			usage: (u) => this.seen.push(`usage ${u?.promptTokens ?? "none"}`),
			failed: (reason) => this.seen.push(`failed ${reason}`),
		};
		this.session = new Session((text) => {
			const m = JSON.parse(text) as Message;
			this.sent.push(m);
			if (m.id === undefined) return;
			const response = m.method! in results ? { result: results[m.method!] }
				: { error: { code: 1, message: `no ${m.method}` } };
			queueMicrotask(() => this.session.receive(JSON.stringify({ id: m.id, ...response })));
		}, events, threadId, "1");
	}

	get methods(): (string | undefined)[] {
		return this.sent.map((m) => m.method);
	}
}

const usage = { usage: { promptTokens: 5 } };

test("the thread of the last run is resumed, and the gauge shows its usage", async () => {
	const server = new FakeServer({ initialize: {}, "thread/resume": { thread: { id: "a" } }, "context/getUsage": usage },
		"a");
	await server.session.ready;
	assert.deepEqual(server.methods, ["initialize", "initialized", "thread/resume", "context/getUsage"]);
	assert.deepEqual(server.seen, ["usage 5"]);
	assert.equal(await server.session.latest("/p"), "a");
});

test("a thread that is locked keeps its gauge, and one that is gone is forgotten", async () => {
	const locked = new FakeServer({ initialize: {}, "context/getUsage": usage }, "a");
	await locked.session.ready;
	assert.equal(locked.session.threads.current, "a");
	const gone = new FakeServer({ initialize: {}, "thread/list": { data: [{ id: "b" }] } }, "a");
	await gone.session.ready;
	assert.equal(gone.session.threads.current, null);
	assert.equal(await gone.session.latest("/p"), "b");
	assert.deepEqual(gone.sent.at(-1)!.params, { limit: 1, sortKey: "updated_at", modelProviders: [], cwd: "/p" });
});

test("a rejected handshake is reported, and calls are rejected", async () => {
	const server = new FakeServer({}, null);
	await assert.rejects(server.session.call("model/list", {}), /no initialize/);
	assert.deepEqual(server.seen, ["failed no initialize"]);
});

test("an answer to a question of a server that has ended is late", async () => {
	const server = new FakeServer({ initialize: {} }, null);
	await server.session.ready;
	server.session.receive(JSON.stringify({
		id: 0, method: "item/commandExecution/requestApproval", params: { threadId: "t", command: "x", cwd: "/", reason: null, availableDecisions: [] },
	}));
	server.session.close("the server has ended");
	server.choose("Accept");
	await Promise.resolve();
	await Promise.resolve();
	assert.deepEqual(server.seen, ["late"]);
	assert.deepEqual(server.methods, ["initialize", "initialized"]);
});

test("calls that wait are rejected when the server ends", async () => {
	const server = new FakeServer({ initialize: {} }, null);
	await server.session.ready;
	const waiting = server.session.call("model/list", {});
	server.session.close("the server has ended");
	await assert.rejects(waiting, /the server has ended/);
});
