// The list of threads as a tree: projects, their threads, and agents and forks below their origin.

import { baseName } from "../lib/format.ts";
import { childrenOf, teamOf } from "./agents.ts";
import type { Thread } from "../wire/types.ts";
import { titleOf } from "./titles.ts";

/** maxDepth is the largest indentation of a fork. Deeper ones have the same. */
const maxDepth = 4;

/** ThreadListRow is a row of the list. */
export type ThreadListRow =
	| { key: string; kind: "project"; name: string; title: string; count: number; folded: boolean }
	| { key: string; kind: "thread"; thread: Thread; depth: number; note: string; folder: string; agent: boolean }
	| { key: string; kind: "team"; of: string; agents: readonly Thread[]; depth: number; open: boolean };

/** Teams has the agents of all threads, the open thread, and the choices of the user. */
export interface Teams {
	agents: readonly Thread[];
	current: string | null;
	open: ReadonlyMap<string, boolean>;
}

interface Project {
	key: string;
	name: string;
	threads: Thread[];
}

/** projectKey returns what threads of a project have in common: the address of the repository, or else the folder. */
const projectKey = (t: Thread): string => t.gitInfo?.originUrl || t.cwd;

/** projectName returns the last part of the address of a repository, or of a folder. */
const projectName = (key: string): string =>
	baseName(key.replaceAll("\\", "/")).replace(/\.git$/, "").replace(/^.*:/, "") || key;

/** projectsOf groups threads. The order of the list stays: a project is where its first thread is. */
function projectsOf(threads: readonly Thread[]): Project[] {
	const projects = new Map<string, Project>();
	for (const t of threads) {
		const key = projectKey(t);
		let project = projects.get(key);
		if (!project) projects.set(key, project = { key, name: projectName(key), threads: [] });
		project.threads.push(t);
	}
	const names = new Map<string, number>();
	for (const p of projects.values()) names.set(p.name, (names.get(p.name) ?? 0) + 1);
	return [...projects.values()].map((p) => (names.get(p.name)! > 1 ? { ...p, name: twoParts(p.key) } : p));
}

/** twoParts returns the last two parts of a path, which tell folders of one name apart. */
const twoParts = (path: string): string =>
	path.replaceAll("\\", "/").replace(/\/+$/, "").split("/").slice(-2).join("/");

/** rowsOf returns the rows of the list. Threads of a folded project have none. */
export function rowsOf(
	threads: readonly Thread[], folded: ReadonlySet<string>, teams: Teams = { agents: [], current: null, open: new Map() },
): ThreadListRow[] {
	const notes = notesOf(threads);
	return projectsOf(threads).flatMap((p) => {
		const isFolded = folded.has(p.key);
		const head: ThreadListRow = {
			key: `p:${p.key}`, kind: "project", name: p.name, title: p.key, count: p.threads.length, folded: isFolded,
		};
		if (isFolded) return [head];
		const several = new Set(p.threads.map((t) => t.cwd)).size > 1;
		return [head, ...treeOf(p.threads).flatMap(({ thread, depth }): ThreadListRow[] => [{
			key: thread.id, kind: "thread", thread, depth, note: notes.get(thread.id) ?? "",
			folder: several ? baseName(thread.cwd) : "", agent: false,
		}, ...teamRows(thread, depth, teams)])];
	});
}

/** teamRows returns the rows of the agents of a thread. They are hidden if none works and none is open. */
function teamRows(thread: Thread, depth: number, { agents, current, open }: Teams): ThreadListRow[] {
	const team = teamOf(thread.id, agents);
	if (team.length === 0) return [];
	const isOpen = open.get(thread.id) ?? [thread, ...team].some((t) => t.id === current || (t !== thread && isActive(t)));
	const head: ThreadListRow = {
		key: `t:${thread.id}`, kind: "team", of: thread.id, agents: team, depth: depth + 1, open: isOpen,
	};
	return isOpen ? [head, ...agentRows(thread.id, depth + 1, agents)] : [head];
}

const isActive = (t: Thread): boolean => t.status.type === "active" || t.status.type === "systemError";

function agentRows(of: string, depth: number, agents: readonly Thread[]): ThreadListRow[] {
	const rest = agents.filter((t) => t.id !== of); // a damaged rollout can have a circle
	return childrenOf(of, rest).flatMap((thread) => [
		{ key: thread.id, kind: "thread", thread, depth: Math.min(depth, maxDepth), note: "", folder: "", agent: true },
		...agentRows(thread.id, depth + 1, rest),
	]);
}

/** treeOf puts forks below their origin, if that is in the list. */
function treeOf(threads: readonly Thread[]): { thread: Thread; depth: number }[] {
	const known = new Set(threads.map((t) => t.id));
	const forks = new Map<string, Thread[]>();
	const roots: Thread[] = [];
	for (const t of threads) {
		const origin = t.forkedFromId;
		if (origin === null || !known.has(origin) || origin === t.id) roots.push(t);
		else forks.set(origin, [...(forks.get(origin) ?? []), t]);
	}
	const out: { thread: Thread; depth: number }[] = [];
	const seen = new Set<string>();
	const add = (thread: Thread, depth: number): void => {
		if (seen.has(thread.id)) return;
		seen.add(thread.id);
		out.push({ thread, depth: Math.min(depth, maxDepth) });
		for (const fork of forks.get(thread.id) ?? []) add(fork, depth + 1);
	};
	// An origin is as new as its newest fork, so it is where the first of them is.
	const byId = new Map(threads.map((t) => [t.id, t]));
	const isRoot = new Set(roots);
	for (const t of threads) {
		if (seen.has(t.id)) continue;
		let at: Thread | undefined = t;
		for (let steps = 0; at && !isRoot.has(at) && steps < threads.length; steps++) at = byId.get(at.forkedFromId!);
		add(at ?? t, 0); // forks in a circle, which only a damaged rollout has, have no root
	}
	return out;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const two = (n: number): string => String(n).padStart(2, "0");

/** begunAt formats a Unix time, such as Nov 28, 15:04. */
function begunAt(seconds: number, exact: boolean): string {
	const t = new Date(seconds * 1000);
	const time = `${months[t.getMonth()]} ${t.getDate()}, ${two(t.getHours())}:${two(t.getMinutes())}`;
	return exact ? `${time}:${two(t.getSeconds())}` : time;
}

/** notesOf returns what distinguishes threads with equal titles: that they are forks, their branch, their beginning. */
function notesOf(threads: readonly Thread[]): ReadonlyMap<string, string> {
	const equal = new Map<string, Thread[]>();
	for (const t of threads) equal.set(titleOf(t), [...(equal.get(titleOf(t)) ?? []), t]);
	const notes = new Map<string, string>();
	for (const list of equal.values()) {
		if (list.length === 1) continue;
		const branches = new Set(list.map((t) => t.gitInfo?.branch ?? "")).size > 1;
		const exact = new Set(list.map((t) => begunAt(t.createdAt, false))).size < list.length;
		const texts = list.map((t) => [t.forkedFromId ? "fork" : "", branches ? t.gitInfo?.branch ?? "" : "",
			begunAt(t.createdAt, exact)].filter(Boolean).join(" · "));
		list.forEach((t, i) => notes.set(t.id, texts.indexOf(texts[i]!) === texts.lastIndexOf(texts[i]!) ? texts[i]!
			: `${texts[i]} · ${t.id.slice(-4)}`));
	}
	return notes;
}
