// The multiplexer: two clients on one connection.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Mux, type Message, type Port } from "../src/mux.ts";

class FakeClient {
	readonly got: Message[] = [];
	readonly port: Port;
	constructor(mux: Mux) {
		this.port = mux.attach((text, message) => {
			assert.deepEqual(JSON.parse(text), message);
			this.got.push(message);
		});
	}
	last(): Message {
		return this.got.at(-1)!;
	}
}

let sent: Message[];
let follows: string[];
let mux: Mux;
let host: FakeClient;
let page: FakeClient;
const serve = (message: Message) => mux.receive(JSON.stringify(message));
const approval = (id: number): Message => ({ id, method: "item/commandExecution/requestApproval", params: { threadId: "t" } });

beforeEach(() => {
	sent = [];
	follows = [];
	mux = new Mux((text) => sent.push(JSON.parse(text) as Message), {
		followed: (port, id) => follows.push(`${port === host.port ? "host" : "page"} +${id}`),
		unfollowed: (port, id) => follows.push(`${port === host.port ? "host" : "page"} -${id}`),
	});
	host = new FakeClient(mux);
	page = new FakeClient(mux);
});

test("each client gets the responses to its own requests, with its own ids", () => {
	host.port.send({ id: 1, method: "thread/list", params: {} });
	page.port.receive('{"id":1,"method":"model/list","params":{}}');
	assert.notEqual(sent[0]!.id, sent[1]!.id);
	serve({ id: sent[1]!.id, result: "models" });
	serve({ id: sent[0]!.id, error: { code: -32600, message: "no" } });
	assert.deepEqual(page.got, [{ id: 1, result: "models" }]);
	assert.deepEqual(host.got, [{ id: 1, error: { code: -32600, message: "no" } }]);
});

test("the server gets one handshake, and each client the same result", () => {
	host.port.send({ id: 1, method: "initialize", params: {} });
	page.port.send({ id: 5, method: "initialize", params: {} });
	page.port.send({ method: "initialized" });
	assert.equal(sent.length, 1);
	serve({ id: sent[0]!.id, result: { userAgent: "x" } });
	assert.deepEqual(sent.map((m) => m.method), ["initialize", "initialized"]);
	assert.deepEqual(host.last().result, { userAgent: "x" });
	assert.equal(page.last().id, 5);
	const later = new FakeClient(mux);
	later.port.send({ id: 9, method: "initialize", params: {} });
	assert.deepEqual(later.got.map((m) => [m.id, m.result]), [[9, { userAgent: "x" }]]);
	assert.equal(sent.length, 2);
});

test("a rejected handshake is an error for each client, and the next one is sent", () => {
	host.port.send({ id: 1, method: "initialize", params: {} });
	page.port.send({ id: 5, method: "initialize", params: {} });
	serve({ id: sent[0]!.id, error: { code: 1, message: "no" } });
	assert.equal(host.last().error?.message, "no");
	assert.equal(page.last().error?.message, "no");
	page.port.send({ id: 6, method: "initialize", params: {} });
	assert.equal(sent.length, 2);
});

test("notifications and requests of the server reach all clients", () => {
	serve({ method: "turn/started", params: {} });
	serve(approval(0));
	for (const client of [host, page]) {
		assert.deepEqual(client.got.map((m) => m.method), ["turn/started", "item/commandExecution/requestApproval"]);
	}
});

test("the first answer to a request is sent, and later ones are dropped", () => {
	serve(approval(0));
	page.port.send({ id: 0, result: { decision: "accept" } });
	host.port.send({ id: 0, result: { decision: "decline" } });
	assert.deepEqual(sent.map((m) => m.result), [{ decision: "accept" }]);
	assert.equal(mux.isOpen(0), false);
});

test("a request that the server has resolved takes no answer", () => {
	serve(approval(0));
	serve({ method: "serverRequest/resolved", params: { threadId: "t", requestId: 0 } });
	page.port.send({ id: 0, result: { decision: "accept" } });
	assert.deepEqual(sent, []);
});

test("a client that comes later gets the open requests after its handshake", () => {
	host.port.send({ id: 1, method: "initialize", params: {} });
	serve({ id: sent[0]!.id, result: {} });
	serve(approval(0));
	serve(approval(1));
	host.port.send({ id: 1, result: {} });
	const later = new FakeClient(mux);
	later.port.send({ id: 1, method: "initialize", params: {} });
	assert.deepEqual(later.got.map((m) => [m.id, m.method]),
		[[1, undefined], [0, "item/commandExecution/requestApproval"]]);
});

test("the server keeps a subscription until the last client has ended it", () => {
	page.port.send({ id: 1, method: "thread/resume", params: { threadId: "t" } });
	serve({ id: sent[0]!.id, result: { thread: { id: "t" } } });
	host.port.follow("t");
	page.port.send({ id: 2, method: "thread/unsubscribe", params: { threadId: "t" } });
	assert.deepEqual(page.last(), { jsonrpc: "2.0", id: 2, result: { status: "unsubscribed" } });
	assert.equal(sent.length, 1);
	host.port.send({ id: 3, method: "thread/unsubscribe", params: { threadId: "t" } });
	assert.equal(sent[1]!.method, "thread/unsubscribe");
	assert.deepEqual(follows, ["page +t", "host +t", "page -t", "host -t"]);
});

test("a thread that could not be resumed is not followed", () => {
	page.port.send({ id: 1, method: "thread/resume", params: { threadId: "t" } });
	serve({ id: sent[0]!.id, error: { code: 1, message: "locked" } });
	assert.deepEqual(follows, []);
});

test("a client that is gone gets and sends nothing", () => {
	page.port.send({ id: 1, method: "thread/resume", params: { threadId: "t" } });
	page.port.detach();
	serve({ id: sent[0]!.id, result: { thread: { id: "t" } } });
	serve({ method: "turn/started", params: {} });
	page.port.send({ id: 2, method: "thread/list", params: {} });
	assert.deepEqual(page.got, []);
	assert.deepEqual(follows, []);
	assert.equal(sent.length, 1);
});
