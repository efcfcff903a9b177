// The entries of a timeline: items, trim points, summaries, and ends of turns.

import { lastTrimPoint, type Entry } from "../store/timeline.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon, type IconName } from "../lib/icons.tsx";
import { Markdown } from "../lib/markdown.tsx";
import { count, duration } from "../lib/format.ts";
import { memo } from "../lib/memo.ts";
import type { TimelineSummary, TimelineTrimPoint, TimelineTurnCompleted } from "../wire/types.ts";
import { openDialog } from "../store/dialog.ts";
import { isEmpty, type CompactionReport } from "../store/losses.ts";
import { lazy } from "../lib/lazy.tsx";
import { ItemView } from "./items.tsx";
import { readOnlyReason } from "../store/readonly.ts";
import { reveal } from "../store/reveal.ts";

const LossesOf = lazy(() => import("./losses.tsx").then((m) => m.LossesOf));

/** maskText says what a compaction without a summary did. */
const maskText = (r: CompactionReport): string =>
	`Old tool outputs were shortened: ${count(r.before)} → ${count(r.after)} tokens`;

interface EntryProps {
	entry: Entry;
	store: ThreadStore;
	index: number;
	total: number;
	/** version repaints the entry when its content changes. */
	version: number;
}

/** EntryView shows an entry, and renders it again when its content or its place changes. */
export const EntryView = memo<EntryProps>(({ entry, store, index, total }) => {
	void entry.version.value;
	const d = entry.data;
	const content = d.type === "item" ? <ItemView entry={entry} turnId={d.turnId} item={d.item} store={store} />
		: d.type === "trimPoint" ? <Divider point={d} rowKey={entry.key} store={store} />
		: d.type === "summary" ? <Summary summary={d} entry={entry} store={store} />
		: d.type === "turnCompleted" ? <TurnEnd turn={d} store={store} /> : null;
	const itemId = d.type === "item" ? d.item.id : "";
	const classes = ["entry", d.trimmed ? "trimmed" : "", store.items.marked.value.has(itemId) ? "marked" : "",
		store.find.current === itemId ? "found" : ""].join(" ");
	return (
		<article id={`e-${entry.key}`} class={classes} tabIndex={0} aria-label={labelOf(entry)}
			aria-posinset={index + 1} aria-setsize={total}>
			{content}
		</article>
	);
}, (a, b) => a.entry === b.entry && a.version === b.version && a.index === b.index && a.total === b.total &&
	a.store === b.store);

function labelOf(entry: Entry): string {
	const d = entry.data;
	switch (d.type) {
		case "item":
			return { userMessage: "You", agentMessage: "Agent", reasoning: "Reasoning", plan: "Plan", commandExecution: "Command",
				fileChange: "File changes", mcpToolCall: "Tool call", dynamicToolCall: "Tool call", webSearch: "Web search",
				imageView: "Image", collabAgentToolCall: "Agents", subAgentActivity: "Agents", contextCompaction: "Compaction", enteredReviewMode: "Review", exitedReviewMode: "Review",
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
	const open = store.items.open.value.has(id);
	const last = lastTrimPoint(store.items.timeline.entries)?.trimPoint.id === id;
	const icon: IconName = point.trimPoint.reason === "compaction" ? "compress" : "scissors";
	return (
		<div class="divider">
			<button type="button" class="divider-label" aria-expanded={open} onClick={() => {
				reveal.hold(rowKey);
				store.items.toggleSection(id);
			}}>
				<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				<Icon name={icon} />{point.label}
			</button>
			{last && (
				<button type="button" class="quiet" title="Take this back, if no other edit followed"
					onClick={() => void store.edits.undoTrim()}><Icon name="undo" />Undo</button>
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
	const last = lastTrimPoint(store.items.timeline.entries)?.trimPoint.id === summary.trimPointId;
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

/** RetryButton is at the last turn, if that failed and the thread can go on. */
function RetryButton({ turnId, store }: { turnId: string; store: ThreadStore }) {
	const { timeline } = store.items;
	if (timeline.newer !== null || timeline.lastTurn() !== turnId || readOnlyReason(store) !== "") return null;
	return (
		<button type="button" class="small" title="Asks the model again. It gets the conversation as it is: your message, and what this turn did."
			onClick={() => void store.turns.retry()}><Icon name="redo" />Retry</button>
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
					{failed && <RetryButton turnId={turn.turnId} store={store} />}
				</div>
			)}
			{report && <p class="turn-end"><Icon name="compress" /><span>{maskText(report)}</span></p>}
			{report && !isEmpty(report) && <LossesOf report={report} store={store} />}
		</>
	);
}
