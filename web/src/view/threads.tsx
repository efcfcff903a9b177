// The list of threads.

import * as app from "../store/app.ts";
import { inbox } from "../store/questions.ts";
import { agents } from "../store/agents.ts";
import { foldedProjects, foldProject, openTeam, openTeams } from "../store/panels.ts";
import { rowsOf, type ThreadListRow } from "../store/threadtree.ts";
import { titleOf } from "../store/titles.ts";
import { Icon } from "../lib/icons.tsx";
import { age, count, plural, visible } from "../lib/format.ts";
import { VirtualList } from "../lib/virtual.tsx";
import type { Thread } from "../wire/types.ts";
import { openDialog } from "../store/dialog.ts";
import { Menu } from "./menu.tsx";
import { Splitter } from "./splitter.tsx";

/** Threads is the list of threads, with its search. */
export function Threads() {
	const rows = rowsOf(app.threads.value, foldedProjects.value,
		{ agents: agents.value, current: app.current.value?.id ?? null, open: openTeams.value });
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
		const list = e.currentTarget as HTMLElement;
		const links = [...list.querySelectorAll<HTMLElement>("a.thread, .thread-project, .thread-team")];
		const next = links[links.indexOf(document.activeElement as HTMLElement) + (e.key === "ArrowDown" ? 1 : -1)];
		next?.focus();
		if (next) e.preventDefault();
	};
	return (
		<nav class="threads" aria-label="Threads">
			<div class="threads-head">
				<label class="search">
					<Icon name="search" />
					<input type="search" placeholder="Search threads" aria-label="Search threads"
						value={app.search.value} onInput={(e) => app.searchThreads(e.currentTarget.value)} />
				</label>
				<button class="primary icon-only" type="button" aria-label="New thread" title="New thread"
					onClick={() => openDialog({ kind: "new" })}><Icon name="plus" /></button>
			</div>
			<div class="segments" role="group" aria-label="Filter">
				{[false, true].map((archived) => (
					<button type="button" aria-pressed={app.showArchived.value === archived}
						onClick={() => app.listThreads(archived)}>{archived ? "Archived" : "Active"}</button>
				))}
			</div>
			{rows.length === 0
				? <p class="hint">{!app.threadsLoaded.value ? "Loading…" : app.search.value ? "No thread contains this text." : app.showArchived.value ? "No archived threads." : "No threads yet."}</p>
				: <VirtualList rows={rows} estimate={58} class="thread-list" label="Threads" role="list" rowRole="listitem"
					onKeyDown={onKeyDown}
					onScroll={(_, last) => last > rows.length - 10 && void app.loadMoreThreads()}
					render={(row) => (row.kind === "project" ? <ProjectRow row={row} /> : row.kind === "team" ? <TeamHead row={row} />
						: <ThreadRow row={row} />)} />}
			{foldedProjects.value.size > 0 && app.hasMoreThreads() && (
				<button type="button" class="more-threads" onClick={() => void app.loadMoreThreads()}>Load more threads</button>
			)}
			<Splitter column="threads" />
		</nav>
	);
}

type Dot = { name: string; label: string };

function dotOf(t: Thread): Dot | null {
	const open = inbox.value.some((r) => r.threadId === t.id);
	if (open || (t.status.type === "active" && t.status.activeFlags.length > 0)) {
		return { name: "waiting", label: "waits for you" };
	}
	if (t.status.type === "active") return { name: "working", label: "working" };
	if (t.status.type === "systemError") return { name: "failed", label: "failed" };
	return null;
}

type Row<Kind> = Extract<ThreadListRow, { kind: Kind }>;

/** ProjectRow is the heading of a project, which hides and shows its threads. */
function ProjectRow({ row }: { row: Row<"project"> }) {
	return (
		<button type="button" class="thread-project" aria-expanded={!row.folded} title={visible(row.title)}
			onClick={() => foldProject(row.title)}>
			<span class={`chevron ${row.folded ? "" : "open"}`}><Icon name="chevron" /></span>
			<span class="ellipsis">{visible(row.name)}</span><span class="faint">{count(row.count)}</span>
		</button>
	);
}

const indent = (depth: number) => (depth > 0 ? { marginLeft: `${depth * 14}px` } : undefined);

/** TeamHead counts the agents of a thread, and hides and shows them. */
function TeamHead({ row }: { row: Row<"team"> }) {
	const dots = row.agents.map(dotOf).filter((d) => d !== null);
	return (
		<button type="button" class="thread-team" aria-expanded={row.open} style={indent(row.depth)}
			onClick={() => openTeam(row.of, !row.open)}>
			<span class={`chevron ${row.open ? "open" : ""}`}><Icon name="chevron" /></span>{plural(row.agents.length, "agent")}
			{!row.open && ["waiting", "failed", "working"].map((name) => {
				const of = dots.filter((d) => d.name === name);
				return of.length > 0 && <DotView dot={{ name, label: `${of.length} ${of[0]!.label}` }} />;
			})}
		</button>
	);
}

const DotView = ({ dot }: { dot: Dot }) =>
	<span class={`dot dot-${dot.name}`}><i aria-hidden="true" />{dot.label}</span>;

function ThreadRow({ row }: { row: Row<"thread"> }) {
	const { thread } = row;
	const selected = app.current.value?.id === thread.id;
	const dot = dotOf(thread);
	const archived = app.showArchived.value;
	return (
		<div class={`thread-row ${selected ? "selected" : ""}`}
			style={indent(row.depth)}>
			<a class="thread" href={`#/thread/${thread.id}`} aria-current={selected ? "true" : undefined}>
				<span class="thread-title">
					{row.depth > 0 && <><Icon name={row.agent ? "spark" : "fork"} />
						<span class="visually-hidden">{row.agent ? "agent: " : "fork: "}</span></>}{titleOf(thread)}</span>
				<span class="thread-facts">
					{dot && <DotView dot={dot} />}
					{row.note && <span class="ellipsis thread-note">{visible(row.note)}</span>}
					{row.folder && <span class="ellipsis" title={thread.cwd}>{visible(row.folder)}</span>}
					<span>{age(thread.updatedAt)}</span>
				</span>
			</a>
			<Menu label={`Actions for ${titleOf(thread)}`} entries={[
				{ label: "Rename…", icon: "edit", run: () => openDialog({ kind: "rename", thread }) },
				{ label: "Fork", icon: "fork", run: () => void app.fork(thread.id) },
				archived
					? { label: "Unarchive", icon: "archive", run: () => void app.attempt((c) => c.call("thread/unarchive", { threadId: thread.id })) }
					: { label: "Archive", icon: "archive",
						run: () => void app.attempt((c) => c.call("thread/archive", { threadId: thread.id })) },
				...(archived ? [] : [{ label: "Archive and start a new one", icon: "plus" as const,
					run: () => void archiveAndNew(thread) }]),
				{ label: "Delete…", icon: "trash", danger: true, run: () => openDialog({ kind: "delete", thread }) },
			]} />
		</div>
	);
}

async function archiveAndNew(thread: Thread): Promise<void> {
	const done = await app.attempt((c) => c.call("thread/archiveAndNew", { threadId: thread.id }));
	if (done) app.show(done.thread.id);
}
