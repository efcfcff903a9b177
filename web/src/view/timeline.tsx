// The timeline of a thread.

import { useRef, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { lastTrimPoint, type Entry } from "../store/timeline.ts";
import type { ThreadStore } from "../store/thread.ts";
import { VirtualList, type ListHandle } from "../lib/virtual.tsx";
import { Icon, type IconName } from "../lib/icons.tsx";
import { Markdown } from "../lib/markdown.tsx";
import { duration } from "../lib/format.ts";
import { memo } from "../lib/memo.ts";
import type { TimelineSummary, TimelineTrimPoint, TimelineTurnCompleted } from "../wire/types.ts";
import { openDialog } from "./dialogs.tsx";
import { FindBar } from "./find.tsx";
import { LossesOf, maskText } from "./losses.tsx";
import { isEmpty } from "../store/losses.ts";
import { ItemView } from "./items.tsx";
import { Overview } from "./overview.tsx";
import { reveal } from "../store/reveal.ts";

export function ThreadTimeline({ store }: { store: ThreadStore }) {
	const handle = useRef<ListHandle>(null);
	const [focused, setFocused] = useState<string | null>(null);
	const rows = store.rows.value;
	reveal.timeline = (itemId) => requestAnimationFrame(() => { // the rows are rendered then
		const shown = store.rows.peek();
		const i = shown.findIndex((e) => e.data.type === "item" && e.data.item.id === itemId);
		handle.current?.show(i, "start");
		if (i >= 0) setFocused(shown[i]!.key);
	});
	const toEnd = () => {
		if (store.timeline.newer === null) handle.current?.toEnd();
		else void store.loadEnd().then(() => handle.current?.toEnd());
	};
	reveal.end = toEnd;
	reveal.hold = (key) => handle.current?.hold(key);
	if (store.phase.value === "loading") return <div class="empty"><p>Loading the thread…</p></div>;
	if (store.phase.value === "failed") {
		return (
			<div class="empty" role="alert">
				<h2>The thread cannot be opened</h2>
				<p>{store.failure.value}</p>
				<button type="button" onClick={() => void store.open().catch(() => undefined)}>Try again</button>
			</div>
		);
	}
	const move = (by: number) => {
		const i = rows.findIndex((e) => e.key === focused);
		const next = i < 0 ? rows.length - 1 : Math.max(0, Math.min(rows.length - 1, i + by));
		select(next);
	};
	const select = (i: number) => {
		const row = rows[i];
		if (!row) return;
		setFocused(row.key);
		handle.current?.show(i);
		requestAnimationFrame(() => document.getElementById(`e-${row.key}`)?.focus({ preventScroll: true }));
	};
	const moveTurn = (by: number) => {
		let i = rows.findIndex((e) => e.key === focused);
		if (i < 0) i = rows.length;
		for (i += by; i >= 0 && i < rows.length; i += by) {
			const d = rows[i]!.data;
			if (d.type === "item" && d.item.type === "userMessage") return select(i);
		}
	};
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("input,textarea,[role=menu],pre")) return;
		const keys: Record<string, () => void> = {
			j: () => move(1), k: () => move(-1), "[": () => moveTurn(-1), "]": () => moveTurn(1),
			g: toEnd, G: toEnd,
			e: () => document.getElementById(`e-${focused}`)?.querySelector<HTMLElement>("[aria-expanded]")?.click(),
			x: () => exclude(store, rows.find((r) => r.key === focused)),
			Home: () => select(0), End: () => select(rows.length - 1),
		};
		const run = keys[e.key];
		if (!run) return;
		e.preventDefault();
		run();
	};
	return (
		<>
			{store.phase.value === "locked" && (
				<div class="banner warning" role="status"><Icon name="warning" /><span>Another program has this thread open. It is shown read-only.</span>
					<button type="button" onClick={() => void store.open().catch(() => undefined)}>Try again</button></div>
			)}
			{store.phase.value === "archived" && (
				<div class="banner warning" role="status"><Icon name="archive" /><span>This thread is archived. It is shown read-only.</span>
					<button type="button" onClick={() => void app.attempt((c) => c.call("thread/unarchive", { threadId: store.id }))}>Unarchive</button></div>
			)}
			{store.find.open.value && <FindBar find={store.find} />}
			{rows.length === 0
				? <div class="empty"><h2>Nothing has been said yet</h2><p>Write the first message below.</p></div>
				: <div class="timeline-box">
					<VirtualList rows={rows} estimate={96} class="timeline" label="Timeline" role="feed" rowRole="presentation"
						follow={store.timeline.newer === null}
						handle={handle} focusedKey={focused} onKeyDown={onKeyDown}
						onStart={() => void store.loadOlder()} onEnd={() => void store.loadNewer()}
						render={(e, i) => <EntryView entry={e} store={store} index={i} total={rows.length} version={e.version.value} />} />
					<Overview rows={rows} matches={store.find.itemIds} show={(i) => handle.current?.show(i, "start")} />
				</div>}
		</>
	);
}

/** exclude excludes the context items of an entry, or includes them again. */
function exclude(store: ThreadStore, entry: Entry | undefined): void {
	if (entry?.data.type !== "item") return;
	const items = store.context.byItemId.value.get(entry.data.item.id) ?? [];
	const included = items.some((i) => store.plan.value.get(i.id)?.included ?? i.included);
	void store.change(items.map((i) => i.id), { included: !included });
}

interface EntryProps {
	entry: Entry;
	store: ThreadStore;
	index: number;
	total: number;
	/** version repaints the entry when its content changes. */
	version: number;
}

const EntryView = memo<EntryProps>(({ entry, store, index, total }) => {
	void entry.version.value;
	const d = entry.data;
	const content = d.type === "item" ? <ItemView entry={entry} turnId={d.turnId} item={d.item} store={store} />
		: d.type === "trimPoint" ? <Divider point={d} rowKey={entry.key} store={store} />
		: d.type === "summary" ? <Summary summary={d} entry={entry} store={store} />
		: d.type === "turnCompleted" ? <TurnEnd turn={d} store={store} /> : null;
	const itemId = d.type === "item" ? d.item.id : "";
	const classes = ["entry", d.trimmed ? "trimmed" : "", store.marked.value.has(itemId) ? "marked" : "",
		store.find.current === itemId ? "found" : ""].join(" ");
	return (
		<article id={`e-${entry.key}`} class={classes} tabIndex={0} aria-label={labelOf(entry)}
			aria-posinset={index + 1} aria-setsize={total}>
			{content}
		</article>
	);
}, (a, b) => a.entry === b.entry && a.version === b.version && a.index === b.index && a.total === b.total && a.store === b.store);

function labelOf(entry: Entry): string {
	const d = entry.data;
	switch (d.type) {
		case "item":
			return { userMessage: "You", agentMessage: "Agent", reasoning: "Reasoning", plan: "Plan", commandExecution: "Command",
				fileChange: "File changes", mcpToolCall: "Tool call", dynamicToolCall: "Tool call", webSearch: "Web search",
				imageView: "Image", contextCompaction: "Compaction", enteredReviewMode: "Review", exitedReviewMode: "Review",
			}[d.item.type] ?? "Item";
		case "trimPoint":
			return d.label;
		case "summary":
			return "Summary of earlier messages";
		default:
			return "Turn ended";
	}
}

function Divider(p: { point: TimelineTrimPoint; rowKey: string; store: ThreadStore }) {
	const report = p.store.reports.byPlace.value.get(p.point.trimPoint.id);
	return (
		<>
			<DividerLine {...p} />
			{report && !isEmpty(report) && <LossesOf report={report} store={p.store} />}
		</>
	);
}

function DividerLine({ point, rowKey, store }: { point: TimelineTrimPoint; rowKey: string; store: ThreadStore }) {
	const id = point.trimPoint.id;
	const open = store.openSections.value.has(id);
	const last = lastTrimPoint(store.timeline.entries)?.trimPoint.id === id;
	const icon: IconName = point.trimPoint.reason === "compaction" ? "compress" : "scissors";
	return (
		<div class="divider">
			<button type="button" class="divider-label" aria-expanded={open} onClick={() => {
				reveal.hold(rowKey);
				store.toggleSection(id);
			}}>
				<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				<Icon name={icon} />{point.label}
			</button>
			{last && (
				<button type="button" class="quiet" title="Take this back, if no other edit followed"
					onClick={() => void store.undoTrim()}><Icon name="undo" />Undo</button>
			)}
			{last && point.trimPoint.summary === null && (
				<button type="button" class="quiet" onClick={() => openDialog({ kind: "summary", store, trimPointId: id, text: "" })}>
					<Icon name="edit" />Add summary
				</button>
			)}
		</div>
	);
}

function Summary({ summary, entry, store }: { summary: TimelineSummary; entry: Entry; store: ThreadStore }) {
	const last = lastTrimPoint(store.timeline.entries)?.trimPoint.id === summary.trimPointId;
	return (
		<div class="summary">
			<div class="summary-head"><Icon name="compress" />Summary of earlier messages<span class="spacer" />
				{last && (
					<button type="button" class="quiet"
						onClick={() => openDialog({ kind: "summary", store, trimPointId: summary.trimPointId, text: summary.text })}>
						<Icon name="edit" />Edit summary
					</button>
				)}
			</div>
			<Markdown text={summary.text} blocks={entry.blocks} />
		</div>
	);
}

/** TurnEnd shows how a turn ended, unless it completed, and the report of a compaction in it that has no trim point. */
function TurnEnd({ turn, store }: { turn: TimelineTurnCompleted; store: ThreadStore }) {
	const failed = turn.status === "failed";
	const report = store.reports.byPlace.value.get(turn.turnId);
	return (
		<>
			{turn.status !== "completed" && (
				<div class={`turn-end ${failed ? "failed" : ""}`} role={failed ? "alert" : undefined}>
					<Icon name={failed ? "warning" : "stop"} />
					<span>{failed ? `Turn failed: ${turn.error?.message ?? "unknown error"}` : "Interrupted"}</span>
					{turn.durationMs !== null && <span class="faint">{duration(turn.durationMs)}</span>}
				</div>
			)}
			{report && <p class="turn-end"><Icon name="compress" /><span>{maskText(report)}</span></p>}
			{report && !isEmpty(report) && <LossesOf report={report} store={store} />}
		</>
	);
}
