// The list of threads as a tree, and the inbox.

import type { Thread } from "../src/wire/types.ts";
import * as inbox from "../src/store/inbox.ts";
import { pathOf, titleOf } from "../src/store/titles.ts";
import { rowsOf, type Teams } from "../src/store/threadtree.ts";
import { equal, test } from "./check.ts";

let born = 1_700_000_000;

const thread = (id: string, more: Partial<Thread> = {}): Thread => ({
	id, name: id, preview: "", cwd: "/src/app", forkedFromId: null, gitInfo: null, createdAt: born++, updatedAt: 0,
	status: { type: "active", activeFlags: [] }, ...more,
} as Thread);

const shown = (threads: readonly Thread[], folded: readonly string[] = [], teams?: Partial<Teams>): string =>
	rowsOf(threads, new Set(folded), { agents: [], current: null, open: new Map(), ...teams }).map((r) =>
		(r.kind === "project" ? `[${r.name} ${r.count}]` : r.kind === "team" ? `${"-".repeat(r.depth)}(${r.agents.length})`
			: `${"-".repeat(r.depth)}${r.thread.id}`)).join(" ");

const repository = (url: string) => ({ gitInfo: { sha: null, branch: null, originUrl: url } }) as Partial<Thread>;

test("threads are grouped by repository, or else by folder, where the newest one of each is", () => {
	const threads = [
		thread("a", repository("git@host:me/tool.git")), thread("b"), thread("c", { cwd: "/other/app" }),
		thread("d", { cwd: "/tree", ...repository("git@host:me/tool.git") }),
	];
	equal(shown(threads), "[tool 2] a d [src/app 1] b [other/app 1] c");
	equal(shown(threads, ["/src/app", "git@host:me/tool.git"]), "[tool 2] [src/app 1] [other/app 1] c");
	equal(rowsOf(threads, new Set()).flatMap((r) => (r.kind === "thread" ? [r.folder] : [])).join(), "app,tree,,");
});

test("forks are below their origin, which is where the newest fork is", () => {
	const fork = (id: string, of: string) => thread(id, { forkedFromId: of });
	equal(shown([fork("c", "b"), thread("z"), fork("b", "a"), thread("a"), fork("x", "gone")]), "[app 5] a -b --c z x");
	equal(shown([fork("a", "b"), fork("b", "a"), fork("s", "s")]).replace(/-/g, ""), "[app 3] b a s");
	const deep = Array.from({ length: 9 }, (_, i) => thread(`t${i}`, { forkedFromId: i === 0 ? null : `t${i - 1}` }));
	equal(shown(deep).split(" ").at(-1), "----t8");
});

test("threads with one title have notes that differ, also if they began in the same second", () => {
	const same = [thread("aaaa1", { name: "same", createdAt: 60 }), thread("aaaa2", { name: "same", createdAt: 60 }),
		thread("f", { name: "same", createdAt: 60, forkedFromId: "aaaa1" }), thread("other")];
	const notes = rowsOf(same, new Set()).flatMap((r) => (r.kind === "thread" ? [r.note] : []));
	equal(new Set(notes).size, 4);
	equal(notes.filter((n) => n.startsWith("fork")).length, 1);
	equal(notes.at(-1), "");
});

test("the inbox has ended turns of other threads, one of each, until they are read", () => {
	inbox.readAll();
	const [a, b] = [thread("a"), thread("b")];
	inbox.followed(a, { type: "idle" }, "a");
	inbox.followed(thread("c", { status: { type: "idle" } }), { type: "idle" }, null);
	inbox.followed(a, { type: "active", activeFlags: [] }, null);
	equal(inbox.ended.value.length, 0);
	inbox.followed(a, { type: "idle" }, "b");
	inbox.followed(b, { type: "systemError" }, null);
	inbox.followed(a, { type: "idle" }, "b");
	equal(inbox.ended.value.map((e) => `${e.title} ${e.failed}`).join(), "a false,b true");
	inbox.read("a");
	equal(inbox.ended.value.map((e) => e.threadId).join(), "b");
	inbox.readAll();
});

const idle = { status: { type: "idle" } } as Partial<Thread>;
const agent = (id: string, of: string, more: Partial<Thread> = idle) => thread(id, { parentThreadId: of, ...more });

test("agents are below their parent, before forks, if one works, is open, or the user wants to see them", () => {
	const threads = [thread("f", { forkedFromId: "a" }), thread("a", idle), thread("z", idle)];
	const agents = [agent("b", "a"), agent("c", "b"), agent("d", "a"), agent("x", "gone")];
	equal(shown(threads, [], { agents }), "[app 3] a -(3) -f z");
	equal(shown(threads, [], { agents, current: "c" }), "[app 3] a -(3) -b --c -d -f z");
	equal(shown(threads, [], { agents, current: "a", open: new Map([["a", false]]) }), "[app 3] a -(3) -f z");
	equal(shown(threads, [], { agents: [...agents, agent("e", "z", {})] }), "[app 3] a -(3) -f z -(1) -e");
	const circle = [agent("a", "b"), agent("b", "a")];
	equal(shown([thread("a", idle)], [], { agents: circle, current: "a" }), "[app 1] a -(1) -b");
});

test("an agent is named by its name and task, and found behind its parent", () => {
	const parent = thread("a", { name: "Release" });
	const ada = thread("b", { name: null, preview: "Count the files.\nAll.", agentNickname: "Ada", parentThreadId: "a" });
	const nameless = thread("c", { name: null, preview: "Look.", parentThreadId: "b" });
	equal(titleOf(ada), "Ada: Count the files.");
	equal(pathOf("c", [nameless, ada, parent]), "Release › Ada › Look.");
	equal(pathOf("b", [ada]), "Ada");
	equal(pathOf("?", [ada]), "Thread");
});
