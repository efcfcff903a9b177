// What the server remembers: list, search, forget, and why something was recalled.

import { useEffect, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import type { Resource } from "../store/resource.ts";
import { useResource } from "./useresource.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { age, count, firstLine, plural, textOfParts, visible } from "../lib/format.ts";
import type { ContextItem, MemoryHit, MemoryStatusResponse, MemoryView } from "../wire/types.ts";
import { confirm } from "./confirm.tsx";
import { openSettings } from "./opensettings.tsx";
import { Load } from "./parts.tsx";
import { showContext } from "../store/panels.ts";
import { titleOf } from "../store/titles.ts";

type Scope = "repository" | "thread" | "all";

const scopes: readonly [Scope, string][] = [["repository", "This repository"], ["thread", "This thread"], ["all", "Everything"]];
const pageSize = 100;
const hits = 30;
const searchDelayMs = 250;
const nameLength = 90;
/** reminderStart begins the text of the message with what was recalled. */
const reminderStart = "[memory:summary";

interface Memories {
	data: readonly (MemoryView | MemoryHit)[];
	more: boolean;
	status: MemoryStatusResponse;
	semantic: boolean;
}

/** MemoryPanel shows the memories of the server. */
export function MemoryPanel({ store }: { store: ThreadStore }) {
	const [scope, setScope] = useState<Scope>("repository");
	const [text, setText] = useState("");
	const [query, setQuery] = useState("");
	const [limit, setLimit] = useState(pageSize);
	const cwd = store.settings.thread.value?.cwd ?? null;
	const list = useResource(() => read(store, scope, query, limit, cwd), [store, scope, query, limit, cwd]);
	useEffect(() => store.watch((n) => n.method === "memory/updated" && list.soon()), [list]);
	useEffect(() => {
		const timer = setTimeout(() => setQuery(text.trim()), searchDelayMs);
		return () => clearTimeout(timer);
	}, [text]);
	const reminder = useReminder(store);
	return (
		<>
			<div class="side-head">
				<label class="search"><Icon name="search" />
					<input type="search" placeholder="Search the memory" aria-label="Search the memory" value={text} onInput={(e) => setText(e.currentTarget.value)} />
				</label>
				<select aria-label="Memories to show" value={scope} disabled={query !== ""} onChange={(e) => setScope(e.currentTarget.value as Scope)}>
					{scopes.map(([value, name]) => <option value={value}>{name}</option>)}
				</select>
			</div>
			{reminder && <Recalled reminder={reminder} store={store} />}
			<Load resource={list} what="The memory">{(m) => (
				<>
					<Status m={m} query={query} />
					{m.data.length === 0 ? (
						<div class="hint"><p>{emptyText(m, query)}</p>{query === "" && !m.status.summarizes && <button type="button" onClick={openSettings}>Settings…</button>}</div>
					) : (
						<ul class="points scroll" tabIndex={0} aria-label={query ? "Memories found, best first" : "Memories, newest first"}>
							{m.data.map((memory) => (
								<Memory key={memory.id} memory={memory} store={store} list={list}
									recalled={reminder !== null && recalls(reminder.text, memory)} />
							))}
							{m.more && <li class="point"><button type="button" class="small" onClick={() => setLimit(limit + pageSize)}>Show older memories</button></li>}
						</ul>
					)}
				</>
			)}</Load>
		</>
	);
}

async function read(store: ThreadStore, scope: Scope, query: string, limit: number,
	cwd: string | null): Promise<Memories> {
	const status = store.requests.call("memory/status", {});
	if (query !== "") {
		const found = await store.requests.call("memory/search", { query, repoKey: cwd, limit: hits });
		return { data: found.data, more: false, status: await status, semantic: found.semantic };
	}
	const where = scope === "thread" ? { sessionId: store.id } : scope === "repository" ? { repoKey: cwd } : {};
	const page = await store.requests.call("memory/list", { ...where, limit });
	return { data: page.data, more: page.nextCursor !== null, status: await status, semantic: false };
}

function emptyText(m: Memories, query: string): string {
	if (query !== "") return "Nothing that is remembered matches.";
	return m.status.summarizes ? "Nothing is remembered yet. Summaries of what leaves the context appear here."
		: "The memory is off. Turn on summaries of removed context in the settings.";
}

function Status({ m, query }: { m: Memories; query: string }) {
	const { status } = m;
	return (
		<p class="side-note faint">
			<span>{plural(status.summaries, "summary", "summaries")}{status.code > 0 && `, ${plural(status.code, "piece")} of code`}</span>
			<span>{status.summarizes ? "new summaries are kept" : "no new summaries"}, {status.reminds ? "the model is reminded" : "no reminders"}</span>
			{query !== "" && <span>{m.semantic ? "words and meaning compared" : "words compared"}</span>}
			{status.error && <span class="error-text">{visible(status.error)}</span>}
		</p>
	);
}

interface MemoryProps {
	memory: MemoryView | MemoryHit;
	store: ThreadStore;
	list: Resource<Memories>;
	recalled: boolean;
}

function Memory({ memory, store, list, recalled }: MemoryProps) {
	const [open, setOpen] = useState(false);
	const title = visible(memory.title) || firstLine(visible(memory.text), nameLength);
	const forget = () => confirm({
		title: "Forget the memory?", action: "Forget",
		text: <><p><strong>{title}</strong></p><p>It is removed from the disk. This cannot be undone. The messages that it summarizes stay in their thread.</p></>,
		run: () => store.requests.call("memory/forget", { ids: [memory.id] }).then(() => list.load()),
	});
	return (
		<li class="memory">
			<div class="memory-head">
				<button type="button" class="fold-title" aria-expanded={open} onClick={() => setOpen(!open)}>
					<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span><span class="memory-title">{title}</span>
				</button>
				<button type="button" class="quiet" aria-label={`Forget: ${title}`} title="Forget…" disabled={!app.connected()} onClick={forget}><Icon name="trash" /></button>
			</div>
			<div class="faint point-facts">
				<span>{age(memory.createdAt / 1000)}</span>
				{memory.kind !== "summary" && <span>{memory.kind}</span>}
				{memory.itemIds.length > 0 && <span>{plural(memory.itemIds.length, "item")}</span>}
				{recalled && <span class="badge edited">in the context now</span>}
			</div>
			{open && (
				<div class="memory-body">
					<pre tabIndex={0} aria-label="text of the memory">{visible(memory.text)}</pre>
					<p class="faint">Repository: <code>{visible(memory.repoKey)}</code></p>
					{memory.sessionId && memory.sessionId !== store.id &&
						<p><a href={`#/thread/${memory.sessionId}`}>From {threadName(memory.sessionId)}</a></p>}
				</div>
			)}
		</li>
	);
}

function threadName(id: string): string {
	const thread = app.threads.value.find((t) => t.id === id);
	return thread ? `“${visible(titleOf(thread))}”` : "another thread";
}

/** Reminder is the message in the context that has what was recalled. */
interface Reminder {
	item: ContextItem;
	text: string;
}

function useReminder(store: ThreadStore): Reminder | null {
	const item = store.context.items.value.find((i) => i.category === "summary" && i.preview.startsWith(reminderStart)) ??
		null;
	const content = useResource(async () =>
		(item ? store.requests.call("context/readItem", { threadId: store.id, id: item.id }) : null), [store, item?.id]);
	const parts = content.value.value?.original;
	return item && parts ? { item, text: textOfParts(parts) } : null;
}

/** recalls reports whether a reminder has a line of a memory. */
function recalls(reminder: string, memory: MemoryView): boolean {
	const whole = `${memory.title}\n${memory.text}`;
	return bulletsOf(reminder).some((b) => whole.includes(b.replace(/…$/, "")));
}

function bulletsOf(reminder: string): string[] {
	return reminder.split("\n").filter((l) => l.startsWith("- ")).map((l) => l.slice(2).trim()).filter((l) => l !== "");
}

function Recalled({ reminder, store }: { reminder: Reminder; store: ThreadStore }) {
	const [why, setWhy] = useState(false);
	return (
		<section class="recalled" aria-label="Recalled">
			<h2><Icon name="spark" />Recalled into the context <span class="faint">{count(reminder.item.tokens)} tokens</span></h2>
			<ul>{bulletsOf(reminder.text).map((b) => <li>{visible(b)}</li>)}</ul>
			<div class="details-actions">
				<button type="button" class="small" aria-expanded={why} onClick={() => setWhy(!why)}>Why?</button>
				<button type="button" class="small" onClick={() => showContext(reminder.item.id)}>Show in context</button>
			</div>
			{why && <Why reminder={reminder} store={store} />}
		</section>
	);
}

/**
 * Why searches the memory for the message of the turn that brought the reminder, as the server does when
 * a turn begins.
 */
function Why({ reminder, store }: { reminder: Reminder; store: ThreadStore }) {
	const message = messageOf(reminder.item, store.context.items.value);
	const found = useResource(async () => {
		if (!message) return null;
		const read = await store.requests.call("context/readItem", { threadId: store.id, id: message.id });
		const query = textOfParts(read.original);
		const result = await store.requests.call("memory/search",
			{ query, repoKey: store.settings.thread.value?.cwd ?? null, kinds: ["summary"], limit: hits });
		return { query, result };
	}, [message?.id]);
	if (!message) return <p class="faint">The message that it was recalled for is not in the context.</p>;
	return (
		<Load resource={found} what="The reason">{(f) => (
			<div class="why-recalled">
				<p>When a turn begins, the server searches the memory of the repository for the words of the message:</p>
				<blockquote>{firstLine(visible(f?.query ?? ""), 200)}</blockquote>
				{f?.result.data.length ? (
					<ol>{f.result.data.slice(0, 5).map((h) => (
						<li>{firstLine(visible(h.title || h.text), nameLength)} <span class="faint">score {h.score.toFixed(2)}</span>
							{recalls(reminder.text, h) && <span class="badge edited">recalled</span>}</li>
					))}</ol>
				) : <p>It finds nothing now: the memory was forgotten since.</p>}
			</div>
		)}</Load>
	);
}

/** messageOf returns the user's message of the turn that brought an item. Ids of items count up. */
function messageOf(item: ContextItem, items: readonly ContextItem[]): ContextItem | undefined {
	const messages = items.filter((i) => i.category === "userMessage");
	const number = (i: ContextItem) => Number(i.id.replace(/\D/g, ""));
	return messages.find((m) => item.turnId !== null && m.turnId === item.turnId)
		?? messages.sort((a, b) => Math.abs(number(a) - number(item)) - Math.abs(number(b) - number(item)))[0];
}
