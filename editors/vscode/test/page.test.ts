// The page in its webview.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import type { FromEditor } from "../../../web/src/wire/transport.ts";
import { Mux, type Message } from "../src/mux.ts";
import { htmlOf, Page } from "../src/page.ts";

let got: FromEditor[];
let sent: Message[];
let mux: Mux;
let page: Page;

beforeEach(() => {
	got = [];
	sent = [];
	mux = new Mux((text) => sent.push(JSON.parse(text) as Message),
		{ followed: () => undefined, unfollowed: () => undefined });
	page = new Page({ html: "", cspSource: "", postMessage: (m) => Promise.resolve(got.push(m) > 0) });
});

test("the page allows its own scripts by a nonce, and nothing of other hosts", (t) => {
	const folder = mkdtempSync(join(tmpdir(), "page-"));
	t.after(() => rmSync(folder, { recursive: true }));
	writeFileSync(join(folder, "index.html"), `<html><head>\n<link rel="stylesheet" href="/assets/style-1.css">\n<link rel="icon" href="data:,">\n</head>
<body><script type="module" src="/assets/main-1.js"></script></body></html>`);
	const html = htmlOf(folder, (name) => `https://editor/page/${name}`, "https://editor");
	const nonce = /script-src 'nonce-([\w+/=]+)'/.exec(html)![1]!;
	assert.ok(html.includes(`<script nonce="${nonce}" type="module" src="https://editor/page/assets/main-1.js">`), html);
	assert.ok(html.includes("default-src 'none'") && !html.includes("unsafe"), html);
	assert.ok(html.includes('href="https://editor/page/assets/style-1.css"') && html.includes('href="https://editor/page/theme.css"'), html);
	assert.ok(html.indexOf("Content-Security-Policy") < html.indexOf("stylesheet"));
	assert.notEqual(html, htmlOf(folder, (name) => `https://editor/page/${name}`, "https://editor"));
});

test("a page that opens before the server runs is connected when it does", () => {
	page.show("a", true);
	page.receive({ kind: "open", link: 1 });
	assert.deepEqual(got, []);
	page.connected(mux);
	assert.deepEqual(got, [{ kind: "opened", link: 1 }, { kind: "show", hash: "#/thread/a", context: true }]);
	page.receive({ kind: "message", link: 1, text: '{"id":1,"method":"model/list"}' });
	mux.receive(JSON.stringify({ id: sent[0]!.id, result: 1 }));
	assert.deepEqual(got.at(-1), { kind: "message", link: 1, text: '{"id":1,"result":1}' });
});

test("without a model that can be used, the page leaves the thread for the ways to one", () => {
	page.setup();
	page.connected(mux);
	page.receive({ kind: "open", link: 1 });
	assert.deepEqual(got, [{ kind: "opened", link: 1 }, { kind: "show", hash: "#/setup", context: false }]);
});

test("the page learns the end of the server, and its next link waits for the next server", () => {
	page.connected(mux);
	page.receive({ kind: "open", link: 1 });
	page.disconnected();
	assert.deepEqual(got.at(-1), { kind: "closed", link: 1 });
	page.receive({ kind: "open", link: 2 });
	page.receive({ kind: "message", link: 1, text: '{"id":1,"method":"late"}' });
	const next = new Mux((text) => sent.push(JSON.parse(text) as Message),
		{ followed: () => undefined, unfollowed: () => undefined });
	page.connected(next);
	assert.deepEqual(got.at(-1), { kind: "opened", link: 2 });
	assert.deepEqual(sent, []);
});
