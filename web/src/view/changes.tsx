// The changes of files of a thread.

import { useEffect } from "preact/hooks";
import { connected } from "../store/app.ts";
import { changesOf, turnNames, type Changes } from "../store/changes.ts";
import { diffSplit, splitDiff } from "../store/panels.ts";
import type { ThreadStore } from "../store/thread.ts";
import { openDialog } from "../store/dialog.ts";
import { lazy } from "../lib/lazy.tsx";
import { sum } from "../lib/patch.ts";
import { age, firstLine, plural, visible } from "../lib/format.ts";
import { commentsOf } from "../store/comments.ts";
import { CommentList } from "./comments.tsx";
import { Counts } from "./diffrows.tsx";
import { DiffTree } from "./difftree.tsx";
import { Findings, ReviewButton } from "./review.tsx";

const Commit = lazy(() => import("./commit.tsx").then((m) => m.CommitDialog));

const openCommit = (store: ThreadStore): void => openDialog({ kind: "part", view: () => <Commit store={store} /> });

const nameLength = 48;

/** ChangesPanel shows the changes of a thread. */
export function ChangesPanel({ store }: { store: ThreadStore }) {
	const c = changesOf(store);
	useEffect(() => c.start(), []);
	return (
		<>
			<div class="side-head">
				<ScopeSelect c={c} store={store} />
				<div class="segments" role="group" aria-label="View of differences">
					{[false, true].map((on) => (
						<button type="button" aria-pressed={diffSplit.value === on} onClick={() => splitDiff(on)}>{on ? "Split" : "Unified"}</button>
					))}
				</div>
				<span class="side-actions">
					<ReviewButton store={store} />
					<button type="button" disabled={!connected()} onClick={() => openCommit(store)}>Commit…</button>
				</span>
			</div>
			<Findings store={store} c={c} />
			<CommentList store={store} />
			<Body c={c} store={store} />
		</>
	);
}

function ScopeSelect({ c, store }: { c: Changes; store: ThreadStore }) {
	const names = turnNames(store);
	const nameOf = (turnId: string) => firstLine(visible(names.get(turnId) ?? "an earlier turn"), nameLength);
	const scope = c.scope.value;
	const [kind, from, to] = scope.split(":");
	const of = (id: string) => c.checkpoints.value.find((p) => p.id === id);
	const pointName = (id: string) => {
		const point = of(id);
		return point?.kind === "revert" ? `the revert, ${age(point.createdAt)}` : nameOf(id);
	};
	return (
		<select aria-label="Changes to show" value={scope} onChange={(e) => c.choose(e.currentTarget.value)}>
			<option value="latest">{store.turns.current.value ? "This turn" : "Last turn with changes"}</option>
			<option value="thread">Whole thread</option>
			{kind === "between" && <option value={scope}>Between {pointName(from!)} and {pointName(to!)}</option>}
			{c.turns.value.length > 0 && (
				<optgroup label="Turn">
					{c.turns.value.map((t) => <option value={`turn:${t.turnId}`}>{nameOf(t.turnId)}</option>)}
				</optgroup>
			)}
			{(c.checkpoints.value.length > 0 || kind === "since") && (
				<optgroup label="Since the checkpoint before">
					{kind === "since" && !of(from!) && <option value={scope}>an earlier turn</option>}
					{c.checkpoints.value.map((p) => <option value={`since:${p.id}`}>{pointName(p.id)}</option>)}
				</optgroup>
			)}
		</select>
	);
}

const emptyTexts: Record<string, string> = {
	latest: "No changes yet. Files that the agent changes appear here.",
	thread: "No changes yet. Files that the agent changes appear here.",
	turn: "This turn changed no files, or its changes were reverted.",
	since: "Nothing has changed since this checkpoint.",
	between: "The two checkpoints have the same files.",
};

function Body({ c, store }: { c: Changes; store: ThreadStore }) {
	if (c.phase.value === "loading") return <p class="hint" role="status">Loading…</p>;
	if (c.phase.value === "failed") return <Failed c={c} />;
	const list = c.files.value;
	if (list.length === 0) {
		const [kind] = c.scope.value.split(":");
		return lacksCaptures(c, store) ? <NotCaptured c={c} /> : <p class="hint">{emptyTexts[kind!]}</p>;
	}
	return (
		<>
			<p class="side-note">
				{plural(list.length, "file")} <Counts additions={sum(list, (f) => f.additions)}
					deletions={sum(list, (f) => f.deletions)} />
				{c.cut.value && <span class="badge edited" title="The diff is longer than 16 MiB.">cut: some files have no lines here</span>}
				{store.turns.current.value !== null && c.scope.value === "latest" && <span class="faint">the turn is running</span>}
			</p>
			<DiffTree c={c} comments={commentsOf(store)} />
		</>
	);
}

/** lacksCaptures reports whether the agent changed files that the server did not compare. */
function lacksCaptures(c: Changes, store: ThreadStore): boolean {
	return c.turns.value.length === 0 && store.turns.current.value === null && store.items.timeline.entries.some((e) =>
		e.data.type === "item" && e.data.item.type === "fileChange" && e.data.item.status === "completed");
}

function NotCaptured({ c }: { c: Changes }) {
	return (
		<div class="hint" role="alert">
			<p>The agent changed files, but the server did not capture them. Captures need git 2.36 or later, and a folder that is not too large.</p>
			<p class="faint">The conversation shows each change.</p>
			<Retry c={c} />
		</div>
	);
}

function Retry({ c }: { c: Changes }) {
	return <button type="button" onClick={() => void c.load()} disabled={!connected()}>Try again</button>;
}

function Failed({ c }: { c: Changes }) {
	const off = c.failureKind.value === "checkpointsOff";
	const git = c.failureKind.value === "worktree";
	return (
		<div class="hint" role="alert">
			<p>{off ? "Checkpoints are turned off in the configuration, so that changes are not compared."
				: git ? "Git could not compare the files." : "The changes cannot be read."}</p>
			<p class="faint">{visible(c.failure.value)}</p>
			<Retry c={c} />
		</div>
	);
}
