// The state of the page: the connection, the list of threads and the open thread.

import { signal } from "@preact/signals";
import { CallError, Connection } from "../wire/connection.ts";
import { dropSession } from "../wire/session.ts";
import { openTransport, type Transport } from "../wire/transport.ts";
import type { ServerNotification, Thread, ThreadStartParams, Turn } from "../wire/types.ts";
import { addressed, clearAddress } from "./address.ts";
import { modelStore } from "./models.ts";
import * as questions from "./questions.ts";
import { Delay } from "../lib/delay.ts";
import * as inbox from "./inbox.ts";
import { messageText } from "./items.ts";
import { forgetTexts, ThreadStore } from "./thread.ts";

const threadPage = 50;
/** inboxDelay and searchDelay join changes that come together. */
const inboxDelay = new Delay(100);
const searchDelay = new Delay(200);
/** rememberedMs is the time for which the page says that the server remembers this browser. */
const rememberedMs = 30_000;

/** connection is the connection to the server, or null without a session. */
export const connection = signal<Connection | null>(null);
/** connected reports whether requests can be sent. What calls it while it renders is rendered again after a change. */
export const connected = (): boolean => connection.value?.state.value === "open";
/** sessionFailure says why the page has no session, or is empty. */
export const sessionFailure = signal("");
/** threads has the loaded part of the list. */
export const threads = signal<readonly Thread[]>([]);
/** moreThreads is the cursor of the next page of the list, or null. */
const moreThreads = signal<string | null>(null);
/** hasMoreThreads reports whether the list has threads that are not loaded. */
export const hasMoreThreads = (): boolean => moreThreads.value !== null;
/** threadsLoaded is set when the list was read. */
export const threadsLoaded = signal(false);
/** showArchived lists archived threads instead of the others. */
export const showArchived = signal(false);
/** search is the text that the listed threads have, or empty. */
export const search = signal("");
/** current is the open thread, or null. */
export const current = signal<ThreadStore | null>(null);
/** endedTurn is the last turn of any thread that ended, or null. */
export const endedTurn = signal<{ threadId: string; turn: Turn } | null>(null);
/** announcement is the text of the live region for screen readers. */
export const announcement = signal("");
/** failure is an error that belongs to no thread. */
export const failure = signal("");
/** rememberedNow is set for a while after the server has remembered this browser. */
export const rememberedNow = signal(false);

/** remembered sets rememberedNow, and resets it when the user had time to read that. */
export function remembered(): void {
	rememberedNow.value = true;
	setTimeout(() => (rememberedNow.value = false), rememberedMs);
}

/** start opens the session and connects. */
export async function start(): Promise<void> {
	let transport: Transport;
	try {
		transport = await openTransport(remembered);
	} catch (error) {
		sessionFailure.value = (error as Error).message;
		return;
	}
	const c = new Connection(transport, {
		opened: () => initialize(c),
		notification: receive,
		request: (r) => {
			questions.ask(r);
			loadInbox();
		},
	});
	c.state.subscribe((state) => {
		if (state === "rejected") {
			dropSession();
			sessionFailure.value = "The server was started again, or it has ended the session of this browser.";
		}
		if (state === "waiting") questions.disconnected();
		if (state === "open") questions.reconnected();
	});
	connection.value = c;
	c.connect();
	window.addEventListener("hashchange", route);
}

async function initialize(c: Connection): Promise<void> {
	await c.call("initialize", {
		clientInfo: { name: "workbench", title: "Workbench", version: "1" },
		capabilities: { experimentalApi: true, contextItemsDelta: true, slashCommands: "refuse" },
	});
	c.notify("initialized");
	await Promise.all([loadThreads(), current.value?.open(), modelStore.opened(c)]);
	if (!current.value) route();
	loadInbox();
}

/** attempt runs requests of the page. It returns null after a failure, which it shows. */
export async function attempt<T>(run: (c: Connection) => Promise<T>): Promise<T | null> {
	try {
		return await run(connection.value!);
	} catch (error) {
		if (!(error instanceof CallError) || error.kind !== "disconnected") failure.value = (error as Error).message;
		return null;
	}
}

/** ThreadPage is a part of the list. nextCursor is null at its end. */
interface ThreadPage {
	data: readonly Thread[];
	nextCursor: string | null;
}

/** readThreads reads a page of the list. It returns null if that failed, or if another list is wanted meanwhile. */
async function readThreads(cursor: string | null): Promise<ThreadPage | null> {
	const searchTerm = search.value.trim();
	const archived = showArchived.value;
	const page = await attempt(async (c): Promise<ThreadPage> => {
		if (searchTerm === "") {
			return c.call("thread/list", { cursor, limit: threadPage, sortKey: "updated_at", modelProviders: [], archived });
		}
		const found = await c.call("thread/search", { searchTerm, limit: threadPage, archived });
		return { data: found.data.map((r) => r.thread), nextCursor: null };
	});
	return search.value.trim() === searchTerm && showArchived.value === archived ? page : null;
}

/** loadThreads loads the first page of the list. A failure is shown. */
export async function loadThreads(): Promise<void> {
	const page = await readThreads(null);
	if (page) setThreads(page);
}

/** listThreads lists the archived threads, or the others. */
export function listThreads(archived: boolean): void {
	showArchived.value = archived;
	void loadThreads();
}

/** searchThreads lists the threads with a text, soon after the last key. */
export function searchThreads(text: string): void {
	search.value = text;
	searchDelay.start(() => void loadThreads());
}

function setThreads({ data, nextCursor }: ThreadPage): void {
	threads.value = data;
	moreThreads.value = nextCursor;
	threadsLoaded.value = true;
}

/** loadMoreThreads adds the next page of the list. */
export async function loadMoreThreads(): Promise<void> {
	const cursor = moreThreads.value;
	if (!cursor) return;
	moreThreads.value = null;
	const page = await readThreads(cursor);
	if (!page) return;
	const known = new Set(threads.value.map((t) => t.id));
	setThreads({ ...page, data: [...threads.value, ...page.data.filter((t) => !known.has(t.id))] });
}

/** loadInbox reads the open requests of all threads, soon after something changed. */
function loadInbox(): void {
	inboxDelay.start(() => {
		connection.value!.call("serverRequest/list", {}).then((r) => (questions.inbox.value = r.data), () => undefined);
	});
}

function update(id: string, change: Partial<Thread>): void {
	threads.value = threads.value.map((t) => (t.id === id ? { ...t, ...change } : t));
}

/** setPreview sets the preview of a thread, which is its first message. */
function setPreview(id: string, preview: string): void {
	if (threads.value.some((t) => t.id === id && t.preview === "")) update(id, { preview });
}

function remove(id: string): void {
	threads.value = threads.value.filter((t) => t.id !== id);
}

/** receive takes a notification: first the state of the page, then the open thread, if it is about that. */
function receive(n: ServerNotification): void {
	notified(n);
	modelStore.notified(n);
	const id = (n.params as { threadId?: string | null }).threadId;
	if (current.value?.id === id) current.value?.apply(n);
}

/** notified follows the list of threads, the open questions, and the end of the open thread. */
function notified(n: ServerNotification): void {
	switch (n.method) {
		case "thread/started":
			if (n.params.thread.ephemeral) return; // it is not kept
			if (!threads.value.some((t) => t.id === n.params.thread.id)) threads.value = [n.params.thread, ...threads.value];
			return;
		case "thread/status/changed":
			inbox.followed(threads.value.find((t) => t.id === n.params.threadId), n.params.status, current.value?.id ?? null);
			update(n.params.threadId, { status: n.params.status });
			loadInbox();
			return;
		case "thread/name/updated":
			update(n.params.threadId, { name: n.params.threadName ?? null });
			return;
		case "thread/archived":
			if (!showArchived.value) remove(n.params.threadId);
			if (current.value?.id === n.params.threadId) leave();
			return;
		case "thread/deleted":
			forgetTexts(n.params.threadId);
			inbox.read(n.params.threadId);
			remove(n.params.threadId);
			if (current.value?.id === n.params.threadId) leave();
			return;
		case "thread/unarchived":
			void loadThreads();
			if (current.value?.id === n.params.threadId) void current.value.open().catch(() => undefined);
			return;
		case "thread/archivedAndNewCreated":
			void loadThreads();
			return;
		case "serverRequest/resolved":
			questions.resolved(n.params.requestId);
			loadInbox();
			return;
		case "item/completed":
			if (n.params.item.type === "userMessage") setPreview(n.params.threadId, messageText(n.params.item));
			return;
		case "turn/completed":
			endedTurn.value = n.params;
			update(n.params.threadId, { updatedAt: Math.floor(Date.now() / 1000) });
			if (n.params.threadId === current.value?.id) announcement.value = `Turn ${n.params.turn.status}.`;
			return;
	}
}

/** route opens the thread that the address names. */
function route(): void {
	const id = addressed();
	if (id && id !== current.value?.id) void open(id);
	if (!id) leave();
}

/** show changes the address to a thread, which opens it. */
export function show(id: string): void {
	location.hash = `#/thread/${id}`;
}

/** close ends the open thread on this page. */
function close(): void {
	const store = current.value;
	if (!store) return;
	current.value = null;
	store.dispose();
	void connection.value!.call("thread/unsubscribe", { threadId: store.id }).catch(() => undefined);
}

/** leave closes the open thread, and removes it from the address. */
function leave(): void {
	const id = current.value?.id;
	if (!id) return;
	close();
	clearAddress(id);
}

async function open(id: string): Promise<void> {
	close();
	const store = new ThreadStore(id, connection.value!);
	current.value = store;
	inbox.read(id);
	await store.open().catch(() => undefined); // the connection opens it again
}

/** create starts a thread and opens it. */
export async function create(params: ThreadStartParams): Promise<boolean> {
	const started = await attempt((c) => c.call("thread/start", params));
	if (!started) return false;
	if (!threads.value.some((t) => t.id === started.thread.id)) threads.value = [started.thread, ...threads.value];
	show(started.thread.id);
	return true;
}

/** fork forks a thread, before a turn if one is named, and opens the fork. */
export async function fork(threadId: string, beforeTurnId?: string): Promise<void> {
	const forked = await attempt((c) => c.call("thread/fork", { threadId, ...(beforeTurnId ? { beforeTurnId } : {}) }));
	if (forked) show(forked.thread.id);
}
