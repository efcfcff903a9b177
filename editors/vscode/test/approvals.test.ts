// Approvals as notifications.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { ServerNotification, ServerRequest } from "../../../schema/ts/index.ts";
import { Approvals, describe, titles, type Decision } from "../src/approvals.ts";

function command(text: string, id = 0): ServerRequest {
	return {
		jsonrpc: "2.0", id, method: "item/commandExecution/requestApproval",
		params: {
			kind: "command", threadId: "t", turnId: "u", itemId: "call_1", startedAtMs: 0, environmentId: null, reason: "May I?",
			command: text, cwd: "/src", commandActions: [], proposedExecpolicyAmendment: null, availableDecisions: ["accept", "acceptForSession", "decline", "cancel"],
		},
	};
}

const patch: ServerRequest = {
	jsonrpc: "2.0", id: 7, method: "item/fileChange/requestApproval",
	params: { threadId: "t", turnId: "u", itemId: "call_2", startedAtMs: 0, reason: null, grantRoot: null },
};

const started = {
	method: "item/started",
	params: { threadId: "t", turnId: "u", item: { type: "fileChange", id: "call_2", status: "inProgress", changes: [{ path: "/src/a.txt", kind: { type: "add" }, diff: "x" }] } },
} as unknown as ServerNotification;
const resolved = (id: number) => ({ method: "serverRequest/resolved", params: { threadId: "t", requestId: id } }) as unknown as ServerNotification;

let asked: { text: string; titles: readonly string[]; choose(title: string | undefined): void }[];
let sent: [unknown, Decision][];
let open: boolean;
let shown: string[];
let late: number;
let approvals: Approvals;

beforeEach(() => {
	asked = [];
	sent = [];
	shown = [];
	late = 0;
	open = true;
	approvals = new Approvals({
		ask: (text, buttons) => new Promise((choose) => asked.push({ text, titles: buttons, choose })),
		show: (id) => shown.push(id),
		late: () => late++,
	}, (id, decision) => {
		if (open) sent.push([id, decision]);
		return open;
	});
});

test("a command is shown with its folder and the reason, and each button sends its decision", async () => {
	for (const [title, decision] of [[titles.accept, "accept"], [titles.acceptForSession, "acceptForSession"],
		[titles.decline, "decline"]] as const) {
		const done = approvals.ask(command("touch x"));
		assert.equal(asked[0]!.text, "May this command run? touch x (in /src) – May I?");
		assert.deepEqual(asked[0]!.titles, ["Accept", "Accept for Session", "Decline", "Show"]);
		asked.pop()!.choose(title);
		await done;
		assert.deepEqual(sent.pop(), [0, decision]);
		approvals.notice(resolved(0));
	}
});

test("a decision that the server does not offer has no button", () => {
	const r = command("touch x");
	if (r.method === "item/commandExecution/requestApproval") r.params.availableDecisions = ["accept", "decline"];
	void approvals.ask(r);
	assert.deepEqual(asked[0]!.titles, ["Accept", "Decline", "Show"]);
});

test("a notification that is closed, and one that shows the page, answer nothing", async () => {
	const first = approvals.ask(command("touch x", 1));
	asked[0]!.choose(undefined);
	await first;
	const second = approvals.ask(command("touch x", 2));
	asked[1]!.choose(titles.show);
	await second;
	assert.deepEqual(sent, []);
	assert.deepEqual(shown, ["t"]);
});

test("an answer after the one of the page does not count, and the user learns it", async () => {
	const done = approvals.ask(command("touch x"));
	open = false;
	asked[0]!.choose(titles.accept);
	await done;
	assert.deepEqual(sent, []);
	assert.equal(late, 1);
});

test("a request that comes again with its id is shown once", () => {
	void approvals.ask(command("touch x"));
	void approvals.ask(command("touch x"));
	assert.equal(asked.length, 1);
	approvals.notice(resolved(0));
	void approvals.ask(command("touch x"));
	assert.equal(asked.length, 2);
});

test("a command that a notification cannot show in full cannot be accepted there", () => {
	for (const text of ["x".repeat(300), "one\ntwo", "echo [x](command:workbench.action.quit)"]) {
		const q = describe(command(text), [])!;
		assert.equal(q.complete, false);
		assert.ok(!q.text.includes("](") && !q.text.includes("\n") && q.text.length < 400, q.text);
	}
	void approvals.ask(command("one\ntwo"));
	assert.deepEqual(asked[0]!.titles, ["Show", "Decline"]);
});

test("invisible characters are shown by their codes", () => {
	assert.match(describe(command("rm \u202ex"), [])!.text, /rm ⟨U\+202E⟩x/);
});

test("a change of files names them, and cannot be accepted without their names", () => {
	assert.equal(describe(patch, [])!.complete, false);
	approvals.notice(started);
	void approvals.ask(patch);
	assert.equal(asked[0]!.text, "May these files be changed? 1 file: /src/a.txt");
	assert.ok(asked[0]!.titles.includes("Accept"));
});

test("other requests are for the page alone", () => {
	void approvals.ask({ jsonrpc: "2.0", id: 3, method: "item/tool/requestUserInput", params: { threadId: "t" } } as unknown as ServerRequest);
	assert.deepEqual(asked, []);
});
