// The items that a selection leads to.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContextItem } from "../../../schema/ts/index.ts";
import { find, pathPattern, queryOf } from "../src/exclude.ts";
import type { Call } from "../src/rpc.ts";

function item(index: number, category: string, more: Partial<ContextItem> = {}): ContextItem {
	return {
		index, id: `r${index}`, category, preview: "", included: true, inPrompt: true, pinned: false, replaced: false, tokens: 1,
		bytes: 1, turnId: null, itemId: null, callId: null, toolName: null, ...more,
	} as ContextItem;
}

// The server's patterns are those of Go. These have the same meaning in JavaScript.
const matches = (path: string, folder: string, text: string) => new RegExp(pathPattern(path, folder)).test(text);

test("a call names a file by its relative or its absolute path", () => {
	for (const text of ["shell {\"command\":\"cat src/a.py\"}", "sed -n 1,5p ./src/a.py|head", "cat /p/src/a.py", "read src/a.py.", "'src/a.py'"]) {
		assert.ok(matches("/p/src/a.py", "/p", text), text);
	}
	for (const text of ["cat other/src/a.py", "cat src/a.pyc", "cat src/a.py.bak", "cat src/axpy", "cat /q/src/a.py", "cat src/a.py-old"]) {
		assert.ok(!matches("/p/src/a.py", "/p", text), text);
	}
	assert.ok(matches("/q/b (1).txt", "/p", "cat '/q/b (1).txt'"));
	assert.equal(pathPattern(`/${"x".repeat(1200)}`, ""), "");
});

test("the query is the trimmed beginning of the selection", () => {
	assert.equal(queryOf("  a\r\nb \n"), "a\nb");
	assert.equal([...queryOf("😀".repeat(1500))].length, 1000);
	assert.equal(queryOf(" \n"), "");
});

test("items with the text, calls of the file and their outputs are found, if the next request has them", async () => {
	const pages: Record<string, unknown[]> = {
		"context/getItems": [
			{ revision: 4, items: [item(0, "userMessage"), item(1, "toolCall", { callId: "c" })], nextCursor: "next" },
			{ revision: 4, items: [item(2, "toolOutput", { callId: "c" }), item(3, "assistantMessage"), item(4, "reasoning", { inPrompt: false })], nextCursor: null },
		],
		"context/search": [
			{ data: [{ id: "r3", before: "x ", match: "slug", after: " y" }, { id: "r4", before: "", match: "slug", after: "" }], nextCursor: null },
			{ data: [{ id: "r1", before: "", match: "a.py", after: "" }], nextCursor: null },
		],
	};
	const queries: unknown[] = [];
	const call = ((method: string, params: unknown) => {
		if (method === "context/search") queries.push(params);
		return Promise.resolve(pages[method]!.shift());
	}) as unknown as Call;
	const { found, revision } = await find(call, "t", "/p", { text: "slug", path: "/p/a.py" });
	assert.equal(revision, 4);
	assert.deepEqual(found.map((f) => [f.item.id, f.match, f.reads]),
		[["r1", "", true], ["r2", "", true], ["r3", "x slug y", false]]);
	assert.deepEqual(queries.map((q) => (q as { regex?: boolean }).regex ?? false), [false, true]);
});

test("a selection that is longer than a query is compared as a whole", async () => {
	const head = "h".repeat(1000);
	const texts: Record<string, string> = { r0: `${head} and the rest`, r1: `${head} and something else` };
	const call = ((method: string, params: { id: string }) => {
		switch (method) {
			case "context/getItems": return Promise.resolve({ revision: 1, items: [item(0, "toolOutput"), item(1, "toolOutput")], nextCursor: null });
			case "context/readItem": return Promise.resolve({ sent: null,
				original: [{ type: "text", text: texts[params.id] }] });
		}
		return Promise.resolve({ data: [{ id: "r0", before: "", match: head, after: "" }, { id: "r1", before: "", match: head, after: "" }], nextCursor: null });
	}) as unknown as Call;
	const { found } = await find(call, "t", "/p", { text: `${head} and the rest`, path: "" });
	assert.deepEqual(found.map((f) => f.item.id), ["r0"]);
});

test("without a selection, only the file is searched", async () => {
	let searches = 0;
	const call = ((method: string) => {
		if (method === "context/search") searches++;
		return Promise.resolve({ revision: 0, items: [], data: [], nextCursor: null });
	}) as unknown as Call;
	await find(call, "t", "/p", { text: "", path: "/p/a.py" });
	assert.equal(searches, 1);
});
