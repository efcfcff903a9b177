// The timeline of a thread.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import * as app from "../store/app.ts";
import type { Entry } from "../store/timeline.ts";
import type { ThreadStore } from "../store/thread.ts";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { Icon } from "../lib/icons.tsx";
import { plural } from "../lib/format.ts";
import { EntryView } from "./entries.tsx";
import { lazy } from "../lib/lazy.tsx";
import { opener } from "../lib/openpath.ts";
import { openFile } from "./openfile.tsx";
import { Overview } from "./overview.tsx";
import { reveal } from "../store/reveal.ts";

const FindBar = lazy(() => import("./find.tsx").then((m) => m.FindBar));

/** ThreadTimeline shows the entries of a thread, or why they cannot be shown. */
export function ThreadTimeline({ store }: { store: ThreadStore }) {
	if (store.phase.value === "loading") return <div class="empty"><p>Loading the thread…</p></div>;
	if (store.phase.value === "failed") return <CannotOpen store={store} />;
	return (
		<>
			<ReadOnly store={store} />
			{store.find.open.value && <FindBar find={store.find} />}
			<Entries store={store} />
		</>
	);
}

const reopen = (store: ThreadStore) => void store.open().catch(() => undefined);

function CannotOpen({ store }: { store: ThreadStore }) {
	return (
		<div class="empty" role="alert">
			<h2>The thread cannot be opened</h2>
			<p>{store.failure.value}</p>
			<button type="button" onClick={() => reopen(store)}>Try again</button>
		</div>
	);
}

/** ReadOnly says why the thread cannot be edited. */
function ReadOnly({ store }: { store: ThreadStore }) {
	const unarchive = () => void app.attempt((c) => c.call("thread/unarchive", { threadId: store.id }));
	switch (store.phase.value) {
		case "locked":
			return (
				<div class="banner warning" role="status"><Icon name="warning" />
					<span>Another program has this thread open. It is shown read-only.</span>
					<button type="button" onClick={() => reopen(store)}>Try again</button></div>
			);
		case "archived":
			return (
				<div class="banner warning" role="status"><Icon name="archive" />
					<span>This thread is archived. It is shown read-only.</span>
					<button type="button" onClick={unarchive}>Unarchive</button></div>
			);
		default:
			return null;
	}
}

function Entries({ store }: { store: ThreadStore }) {
	const handle = useRef<ListHandle>(null);
	const [focused, setFocused] = useState<string | null>(null);
	const rows = store.items.rows.value;
	/** left is the number of rows when the user scrolled away from the end, or null at the end. */
	const [left, setLeft] = useState<number | null>(null);
	const toEnd = () => {
		setLeft(null);
		if (store.items.timeline.newer === null) handle.current?.toEnd();
		else void store.items.loadEnd().then(() => handle.current?.toEnd());
	};
	useReveal(store, handle, setFocused, toEnd);
	const select = (i: number) => {
		const row = rows[i];
		if (!row) return;
		setFocused(row.key);
		handle.current?.show(i);
		requestAnimationFrame(() => document.getElementById(`e-${row.key}`)?.focus({ preventScroll: true }));
	};
	if (rows.length === 0) {
		return <div class="empty"><h2>Nothing has been said yet</h2><p>Write the first message below.</p></div>;
	}
	return (
		<div class="timeline-box">
			<VirtualList rows={rows} estimate={96} class="timeline" label="Conversation" role="feed" rowRole="presentation"
				follow={store.items.timeline.newer === null} handle={handle} focusedKey={focused}
				onPinned={(pinned) => setLeft((former) => (pinned ? null : former ?? rows.length))}
				onKeyDown={(e) => onKeyDown(e, { store, rows, focused, select, toEnd })}
				onStart={() => void store.items.loadOlder()} onEnd={() => void store.items.loadNewer()}
				render={(e, i) => <EntryView entry={e} store={store} index={i} total={rows.length} version={e.version.value} />} />
			{(left !== null || store.items.timeline.newer !== null) && (
				<button type="button" class="to-newest" onClick={toEnd}><Icon name="down" />
					{newestText(store.items.timeline.newer === null && left !== null ? rows.length - left : 0)}</button>
			)}
			<Overview rows={rows} matches={store.find.itemIds} show={(i) => handle.current?.show(i, "start")} />
		</div>
	);
}

function newestText(added: number): string {
	return added > 0 ? `${plural(added, "new item")}: jump to the newest` : "Jump to the newest";
}

/** useReveal lets other views scroll the timeline. */
function useReveal(
	store: ThreadStore, handle: RefObject<ListHandle | null>, setFocused: (key: string) => void, toEnd: () => void,
): void {
	useLayoutEffect(() => {
		opener.open = (place) => openFile(store, place);
		reveal.timeline = (itemId) => requestAnimationFrame(() => { // the rows are rendered then
			const shown = store.items.rows.peek();
			const i = shown.findIndex((e) => e.data.type === "item" && e.data.item.id === itemId);
			handle.current?.show(i, "start");
			if (i >= 0) setFocused(shown[i]!.key);
		});
		reveal.end = toEnd;
		reveal.hold = (key) => handle.current?.hold(key);
	}, [store]);
}

interface KeyContext {
	store: ThreadStore;
	rows: readonly Entry[];
	focused: string | null;
	select(index: number): void;
	toEnd(): void;
}

function onKeyDown(e: KeyboardEvent, { store, rows, focused, select, toEnd }: KeyContext): void {
	if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input,textarea,[role=menu],pre")) return;
	const at = rows.findIndex((r) => r.key === focused);
	const move = (by: number) => select(at < 0 ? rows.length - 1 : Math.max(0, Math.min(rows.length - 1, at + by)));
	const end = () => {
		if (store.items.timeline.newer === null) select(rows.length - 1); // so that the focus stays in the list
		toEnd();
	};
	const keys: Record<string, () => void> = {
		j: () => move(1), k: () => move(-1), "[": () => select(message(rows, at, -1)),
			"]": () => select(message(rows, at, 1)),
		g: end, G: end,
		e: () => document.getElementById(`e-${focused}`)?.querySelector<HTMLElement>("[aria-expanded]")?.click(),
		x: () => exclude(store, rows[at]),
		Home: () => select(0), End: () => select(rows.length - 1),
	};
	const run = keys[e.key];
	if (!run) return;
	e.preventDefault();
	run();
}

/** message returns the next message of the user in a direction, or -1. */
function message(rows: readonly Entry[], at: number, by: number): number {
	for (let i = (at < 0 ? rows.length : at) + by; i >= 0 && i < rows.length; i += by) {
		const d = rows[i]!.data;
		if (d.type === "item" && d.item.type === "userMessage") return i;
	}
	return -1;
}

/** exclude excludes the context items of an entry, or includes them again. */
function exclude(store: ThreadStore, entry: Entry | undefined): void {
	if (entry?.data.type !== "item") return;
	const items = store.context.byItemId.value.get(entry.data.item.id) ?? [];
	const included = items.some((i) => store.plan.changes.value.get(i.id)?.included ?? i.included);
	void store.plan.change(items.map((i) => i.id), { included: !included });
}
