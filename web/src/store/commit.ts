// Commits of the thread's folder with git: the files that changed, a message that the agent drafts, and the commit.
//
// Git runs by command/exec, outside of the sandbox, because a sandbox protects the repository's own data. It gets
// arguments and no shell, so names of files have no other meaning. Hooks, the monitor of the file system and signing
// are off.

import { effect } from "@preact/signals";
import { connection, endedTurn } from "./app.ts";
import type { ThreadStore } from "./thread.ts";

/** ChangedPath is a file that differs from the last commit. Its path is relative to the repository. */
export interface ChangedPath {
	path: string;
	state: string;
	/** byAgent is set if the agent changed the file in this thread. */
	byAgent: boolean;
}

/** Repository is the state of the repository of a thread's folder. */
export interface Repository {
	root: string;
	branch: string;
	files: readonly ChangedPath[];
}

/** Order is a commit that the user wants. With a branch it is made in a new worktree. */
export interface Order {
	paths: readonly string[];
	message: string;
	branch: string;
	hooks: boolean;
}

const timeoutMs = 60_000;
const quiet = ["-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "core.quotePath=false"];
const noHooks = ["-c", "core.hooksPath=/dev/null"];

interface GitOptions {
	env?: Record<string, string>;
	hooks?: boolean;
}

/** git runs git in a folder and returns its output. It rejects if git fails. */
async function git(cwd: string, args: readonly string[], { env, hooks }: GitOptions = {}): Promise<string> {
	const result = await connection.value!.call("command/exec", {
		command: ["git", ...quiet, ...(hooks ? [] : noHooks), ...args], cwd, timeoutMs, disableOutputCap: true,
		sandboxPolicy: { type: "dangerFullAccess" }, env: { GIT_LITERAL_PATHSPECS: "1", GIT_TERMINAL_PROMPT: "0", ...env },
	});
	if (result.exitCode !== 0) throw new Error(result.stderr.trim() || `git failed with ${result.exitCode}`);
	return result.stdout;
}

/** readRepository reads which files of the thread's folder differ from the last commit. */
export async function readRepository(store: ThreadStore): Promise<Repository> {
	const cwd = store.settings.thread.value?.cwd ?? "";
	const root = (await git(cwd, ["rev-parse", "--show-toplevel"])).replace(/\n$/, "");
	const [branch, status, diff] = await Promise.all([
		git(root, ["branch", "--show-current"]),
		git(root, ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]),
		store.requests.call("thread/diff/read", { threadId: store.id }).catch(() => null),
	]);
	const agents = diff?.summary.files.map((f) => f.path) ?? [];
	const byAgent = (path: string) => agents.some((a) => path === a || path.endsWith(`/${a}`) || a.endsWith(`/${path}`));
	const files = status.split("\0").filter((l) => l !== "").map((l): ChangedPath =>
		({ state: l.slice(0, 2).trim(), path: l.slice(3), byAgent: byAgent(l.slice(3)) }));
	return { root, branch: branch.trim(), files };
}

/** commit makes a commit. It returns its short name, and the folder of the new worktree, or "". */
export async function commit({ root }: Repository, order: Order): Promise<{ name: string; folder: string }> {
	if (order.branch !== "") return commitApart(root, order);
	const { paths, message, hooks } = order;
	await git(root, ["add", "-A", "--", ...paths]);
	await git(root, ["commit", "-q", "--only", "-m", message, "--", ...paths], { hooks });
	return { name: (await git(root, ["rev-parse", "--short", "HEAD"])).trim(), folder: "" };
}

/** commitApart makes a commit on a new branch, and a worktree beside the repository. Folder and index do not change. */
async function commitApart(
	root: string, { paths, message, branch }: Order,
): Promise<{ name: string; folder: string }> {
	await git(root, ["check-ref-format", "--branch", branch]);
	const folder = `${root}-${branch.replace(/[^\w.-]+/g, "-")}`;
	const index = (await git(root, ["rev-parse", "--absolute-git-dir"])).trim() + `/appserver-commit-${Date.now()}`;
	const env = { GIT_INDEX_FILE: index };
	try {
		await git(root, ["read-tree", "HEAD"], { env });
		await git(root, ["add", "-A", "--", ...paths], { env });
		const tree = (await git(root, ["write-tree"], { env })).trim();
		const made = (await git(root, ["commit-tree", tree, "-p", "HEAD", "-m", message])).trim();
		await git(root, ["worktree", "add", "-q", "-b", branch, folder, made]);
		return { name: (await git(root, ["rev-parse", "--short", made])).trim(), folder };
	} finally {
		await connection.value!.call("fs/remove", { path: index, force: true }).catch(() => undefined);
	}
}

const wanted = "Write the message of a git commit of these files, and nothing else: a subject of at most 72 characters in the " +
	"imperative, an empty line, and a short body if it is needed. Do not use tools. The files:";

/**
 * draftMessage asks the agent for a message. It runs in an ephemeral fork, read-only and without questions, so that
 * this thread does not change.
 */
export async function draftMessage(store: ThreadStore, paths: readonly string[]): Promise<string> {
	const { call, threadId } = store.requests;
	const { thread } = await call("thread/fork", { threadId, ephemeral: true, sandbox: "read-only", approvalPolicy: "never" });
	try {
		const ended = turnOf(thread.id);
		const text = `${wanted}\n${paths.join("\n")}`;
		await call("turn/start", { threadId: thread.id, input: [{ type: "text", text }] });
		const turn = await ended;
		const answer = turn.items.findLast((i) => i.type === "agentMessage");
		if (turn.status !== "completed" || answer?.type !== "agentMessage") {
			throw new Error(turn.error?.message ?? "The agent wrote no message.");
		}
		return answer.text.replace(/^```\w*\n([\s\S]*?)\n?```\s*$/, "$1").trim();
	} finally {
		void call("thread/unsubscribe", { threadId: thread.id }).catch(() => undefined);
	}
}

type EndedTurn = NonNullable<typeof endedTurn.value>["turn"];

/** turnOf waits for the end of a turn of a thread. */
function turnOf(threadId: string): Promise<EndedTurn> {
	return new Promise((resolve) => {
		const stop = effect(() => {
			const ended = endedTurn.value;
			if (ended?.threadId !== threadId) return;
			resolve(ended.turn);
			queueMicrotask(() => stop());
		});
	});
}
