// The prompt inspector: what the model gets now, and what it got in any past request, with differences.

import { useEffect, useMemo, useState } from "preact/hooks";
import { Inspector as Store, keyOf, type Point, type Prompt, type TurnOfRequests } from "../store/inspector.ts";
import type { ThreadStore } from "../store/thread.ts";
import { comparePrompts, compareTexts, type PartChange, type PromptPart } from "../lib/promptdiff.ts";
import { VirtualList } from "../lib/virtual.tsx";
import { CopyButton } from "../lib/copy.tsx";
import { Icon } from "../lib/icons.tsx";
import { count, duration, firstLine, plural, short, visible } from "../lib/format.ts";
import { openDialog } from "../store/dialog.ts";
import { Frame } from "./frame.tsx";
import { RerunDialog } from "./rerun.tsx";
import { editName } from "../store/edits.ts";

/** maxShown is the number of characters of a text that is shown at first. */
const maxShown = 3000;
/** contextLines is the number of unchanged lines around a changed one. */
const contextLines = 3;

/** Inspector is the dialog with the prompts of a thread. */
export function Inspector({ store }: { store: ThreadStore }) {
	const s = useMemo(() => new Store(store.requests, store.plan), [store]);
	useEffect(() => void s.open(), [s]);
	return (
		<Frame wide title="Prompts">
			{s.failure.value !== "" && <p class="error-text" role="alert">{s.failure.value}</p>}
			<div class="inspector">
				<Points store={store} s={s} />
				<section class="prompt" aria-label="Prompt">
					{s.shown.value ? <Shown store={store} shown={s.shown.value} base={s.base.value} /> : <p class="hint">Loading…</p>}
				</section>
			</div>
		</Frame>
	);
}

function Points({ store, s }: { store: ThreadStore; s: Store }) {
	return (
		<nav class="prompt-points scroll" aria-label="Points in time">
			<h3>Next request</h3>
			<ul>
				<PointRow s={s} point={{ kind: "now" }} label="now" />
				{store.plan.changes.value.size > 0 &&
					<PointRow s={s} point={{ kind: "plan" }}
						label={`with the plan (${plural(store.plan.changes.value.size, "change")})`} />}
			</ul>
			<h3>Sent requests</h3>
			{s.requests.value.length === 0 && <p class="faint">None is recorded.</p>}
			<ul class="prompt-turns">{s.turns.value.map((turn) => <TurnRequests key={turn.key} s={s} turn={turn} />)}</ul>
			{s.more.value !== null && <button type="button" class="small" onClick={() => void s.loadRequests()}>Older requests</button>}
			<h3>After an edit</h3>
			{s.edits.value.length === 0 && <p class="faint">The context has no edits.</p>}
			<ul>
				{s.edits.value.map((edit) => (
					<PointRow key={edit.revision} s={s} point={{ kind: "revision", edit }} label={editName(edit)}
						facts={[plural(edit.count, "item"), edit.undone ? "undone" : ""]} />
				))}
			</ul>
		</nav>
	);
}

/** TurnRequests has the requests of one turn. */
function TurnRequests({ s, turn }: { s: Store; turn: TurnOfRequests }) {
	const id = `prompt-turn-${turn.key}`;
	return (
		<li>
			<p id={id} class="prompt-turn" title={turn.name}>{firstLine(visible(turn.name), 60)}
				<span class="faint"> {plural(turn.requests.length, "request")}</span></p>
			<ul aria-labelledby={id}>
				{turn.requests.map((request) => (
					<PointRow key={request.requestId} s={s} point={{ kind: "request", request }} label={timeOf(request.startedAtMs)}
						facts={[
							request.kind === "turn" ? "" : request.kind, request.tokens ? `${short(request.tokens.inputTokens)} in`
								: "no report",
							request.tokens && request.tokens.cachedInputTokens > 0 ? `${short(request.tokens.cachedInputTokens)} cached`
								: "",
							duration(request.durationMs), request.error ? "failed" : "",
						]} />
				))}
			</ul>
		</li>
	);
}

function timeOf(ms: number): string {
	const date = new Date(ms);
	const time = date.toLocaleTimeString("en-GB");
	return date.toDateString() === new Date().toDateString() ? time
		: `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

interface PointProps {
	s: Store;
	point: Point;
	label: string;
	facts?: readonly string[];
}

function PointRow({ s, point, label, facts = [] }: PointProps) {
	const key = keyOf(point);
	const shown = s.shown.value !== null && keyOf(s.shown.value.point) === key;
	const base = s.base.value !== null && keyOf(s.base.value.point) === key;
	return (
		<li class={`prompt-point ${shown ? "shown" : ""} ${base ? "base" : ""}`}>
			<button type="button" class="prompt-point-name" aria-current={shown} onClick={() => void s.show(point)}>
				{label}<span class="faint block">{facts.filter((f) => f !== "").join(" · ")}</span>
			</button>
			{!shown && <button type="button" class="small" aria-pressed={base} aria-label={`Compare with ${label}`} onClick={() => void s.compare(point)}>Compare</button>}
		</li>
	);
}

/** timeOfPoint orders points: the next request is after all others, and with the plan after that. */
function timeOfPoint(p: Point): number {
	switch (p.kind) {
		case "request": return p.request.startedAtMs;
		case "revision": return p.edit.at;
		case "now": return Number.MAX_SAFE_INTEGER - 1;
		case "plan": return Number.MAX_SAFE_INTEGER;
	}
}

function nameOf(p: Point): string {
	switch (p.kind) {
		case "request": return `the request of ${timeOf(p.request.startedAtMs)}`;
		case "revision": return `the state after “${editName(p.edit)}”`;
		case "now": return "the next request";
		case "plan": return "the next request with the plan";
	}
}

function directionOf(a: Point, b: Point): string {
	const [from, to] = timeOfPoint(a) <= timeOfPoint(b) ? [a, b] : [b, a];
	return `Changes from ${nameOf(from)} to ${nameOf(to)}:`;
}

interface Row {
	key: string;
	change: PartChange;
}

function Shown({ store, shown, base }: { store: ThreadStore; shown: Prompt; base: Prompt | null }) {
	const [onlyChanges, setOnlyChanges] = useState(true);
	const rows = useMemo<Row[]>(() => {
		const [before, after] = base && timeOfPoint(base.point) > timeOfPoint(shown.point) ? [shown, base] : [base, shown];
		const changes: PartChange[] = before ? comparePrompts(before.parts, after.parts)
			: shown.parts.map((part) => ({ kind: "same", part }));
		return changes.map((change, i) => ({ key: `${i}:${change.kind}:${change.part.id.slice(0, 80)}`, change }));
	}, [shown, base]);
	const visibleRows = base && onlyChanges ? rows.filter((r) => r.change.kind !== "same") : rows;
	const r = shown.response;
	const changed = rows.filter((row) => row.change.kind !== "same").length;
	return (
		<>
			<div class="prompt-head">
				<span><strong>{count(r.tokens)} tokens</strong> <span class="faint">{r.model} · {r.provider} · {plural(r.messages.length, "message")} · {plural(r.tools.length, "tool")}</span></span>
				<span class="spacer" />
				{base && <label class="mode"><input type="checkbox" checked={onlyChanges} onChange={(e) => setOnlyChanges(e.currentTarget.checked)} />Only the {plural(changed, "change")}</label>}
				<RunAgain store={store} shown={shown} />
				<CopyButton text={JSON.stringify({ messages: r.messages, tools: r.tools }, null, 2)} />
			</div>
			<Exactness shown={shown} />
			{base && <p class="faint exact">{directionOf(shown.point, base.point)}</p>}
			{visibleRows.length === 0 ? <p class="hint">Both prompts are the same.</p> : (
				<VirtualList key={`${keyOf(shown.point)}/${base ? keyOf(base.point) : ""}`} rows={visibleRows} estimate={70}
					class="prompt-parts"
					label="Messages and tools" role="list" rowRole="listitem" render={(row) => <Part change={row.change} comparing={base !== null} />} />
			)}
		</>
	);
}

/** RunAgain opens the dialog that runs a past request of a turn in a fork. */
function RunAgain({ store, shown: { point, parts, response } }: { store: ThreadStore; shown: Prompt }) {
	if (point.kind !== "request") return null;
	const { request } = point;
	const dialog = () => <RerunDialog store={store} request={request} parts={parts} exact={response.exact ?? false} />;
	const reason = request.kind === "turn" ? "" : `A request of a ${request.kind} is not run again: choose one of a turn.`;
	return (
		<button type="button" class="small" disabled={reason !== ""} title={reason}
			onClick={() => openDialog({ kind: "part", view: dialog })}>
			<Icon name="fork" />Run again in a fork…</button>
	);
}

/** Exactness says if the prompt of a past request could not be rebuilt as it was sent. */
function Exactness({ shown }: { shown: Prompt }) {
	if (shown.point.kind !== "request") return null;
	if (shown.response.exact) return <p class="faint exact"><Icon name="check" />as it was sent, byte for byte</p>;
	return <p class="banner warning"><Icon name="warning" /><span>{shown.response.reason ?? "This prompt may differ from the one that was sent."}</span></p>;
}

const marks: Record<PartChange["kind"], string> = { same: "", added: "added", removed: "removed", changed: "changed" };

function Part({ change, comparing }: { change: PartChange; comparing: boolean }) {
	const folded = change.part.title.startsWith("tool definition") || (comparing && change.kind === "same");
	const [open, setOpen] = useState(!folded);
	return (
		<article class={`part-row ${change.kind}`}>
			<button type="button" class="part-title" aria-expanded={open} onClick={() => setOpen(!open)}>
				<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				<strong>{visible(change.part.title)}</strong>
				{marks[change.kind] !== "" && <span class={`badge ${change.kind}`}>{marks[change.kind]}</span>}
				<span class="faint">{plural(change.part.text.length, "character")}</span>
			</button>
			{open && (change.kind === "changed" ? <Lines before={change.before} after={change.part} />
				: <Text text={change.part.text} />)}
		</article>
	);
}

function Text({ text }: { text: string }) {
	const [all, setAll] = useState(false);
	return (
		<>
			<pre tabIndex={0} aria-label="text of the message">{visible(all ? text : text.slice(0, maxShown))}</pre>
			{!all && text.length > maxShown && <button type="button" class="small" onClick={() => setAll(true)}>Show {count(text.length - maxShown)} more characters</button>}
		</>
	);
}

function Lines({ before, after }: { before: PromptPart; after: PromptPart }) {
	const lines = useMemo(() => {
		const all = compareTexts(before.text, after.text);
		const near = (i: number) => all.slice(Math.max(0, i - contextLines), i + contextLines + 1)
			.some((l) => l.kind !== "same");
		return all.filter((_, i) => near(i));
	}, [before, after]);
	return (
		<pre class="diff" tabIndex={0} aria-label="changed lines">
			{lines.slice(0, 1000).map((l) => (
				<div class={`line ${l.kind}`}>
					{l.kind === "added" ? "+ " : l.kind === "removed" ? "- " : "  "}
					{l.pieces.map((p) => (p.changed ? <mark>{visible(p.text)}</mark> : visible(p.text)))}
				</div>
			))}
			{lines.length > 1000 && <div class="line">… {count(lines.length - 1000)} more lines</div>}
		</pre>
	);
}
