// The threads that the extension follows, and the gauge.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { ContextUsage, ServerNotification } from "../../../schema/ts/index.ts";
import { Mux, type Message, type Port } from "../src/mux.ts";
import { gaugeOf, Threads } from "../src/threads.ts";

let sent: Message[];
let currents: string[];
let usages: (ContextUsage | null)[];
let mux: Mux;
let page: Port;
let threads: Threads;

const usage = (promptTokens: number, modelContextWindow: number | null): ContextUsage =>
	({ totalTokens: 0, totalBytes: 0, includedTokens: 0, includedBytes: 0, promptTokens, modelContextWindow, byCategory: [] });

function status(threadId: string, type: string): void {
	threads.notice({ method: "thread/status/changed", params: { threadId, status: { type } } } as unknown as ServerNotification);
}

/** open lets the page open a thread, as it does: resume, then leave the former one. */
function open(threadId: string, former?: string): void {
	page.send({ id: 1, method: "thread/resume", params: { threadId } });
	mux.receive(JSON.stringify({ id: sent.at(-1)!.id, result: { thread: { id: threadId } } }));
	if (former) page.send({ id: 2, method: "thread/unsubscribe", params: { threadId: former } });
}

const unsubscribed = () => sent.filter((m) => m.method === "thread/unsubscribe")
	.map((m) => (m.params as { threadId: string }).threadId);

beforeEach(() => {
	sent = [];
	currents = [];
	usages = [];
	threads = new Threads({ current: (id) => currents.push(id), usage: (u) => usages.push(u) }, null);
	mux = new Mux((text) => sent.push(JSON.parse(text) as Message), threads);
	threads.bind(mux, mux.attach(() => undefined));
	page = mux.attach(() => undefined);
});

test("the current thread is the one that the page opened last", () => {
	open("a");
	open("b", "a");
	assert.deepEqual(currents, ["a", "b"]);
	assert.equal(threads.current, "b");
});

test("an idle thread is left when the page leaves it for another one", () => {
	open("a");
	open("b", "a");
	assert.deepEqual(unsubscribed(), ["a"]);
});

test("a thread that works is followed until its turn ends", () => {
	open("a");
	status("a", "active");
	open("b", "a");
	assert.deepEqual(unsubscribed(), []);
	status("a", "idle");
	assert.deepEqual(unsubscribed(), ["a"]);
});

test("the current thread is followed when the page is closed", () => {
	open("a");
	page.detach();
	status("a", "active");
	status("a", "idle");
	assert.deepEqual(unsubscribed(), []);
});

test("the gauge has the usage of the current thread only", () => {
	open("a");
	for (const threadId of ["a", "b"]) {
		threads.notice({ method: "ContextItems", params: { threadId, usage: usage(threadId === "a" ? 7 : 9, null) } } as
			unknown as ServerNotification);
	}
	threads.notice({ method: "thread/archived", params: { threadId: "a" } } as unknown as ServerNotification);
	assert.deepEqual(usages.map((u) => u?.promptTokens ?? null), [null, 7, null]);
	assert.equal(threads.current, null);
});

test("the gauge shows tokens, window and share, and warns above nine tenths", () => {
	assert.equal(gaugeOf(usage(4100, 12000)).text, "$(dashboard) 4.1K of 12K (34 %)");
	assert.equal(gaugeOf(usage(4100, 12000)).high, false);
	assert.equal(gaugeOf(usage(11000, 12000)).high, true);
	assert.match(gaugeOf(usage(1000, null)).tooltip, /^1,000 of 128,000 \(assumed\) tokens/);
	assert.equal(gaugeOf(null).text, "$(dashboard) appserver");
});
