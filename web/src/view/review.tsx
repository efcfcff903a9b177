// Reviews: start one, and go from its findings to the lines of the diff.

import { useMemo, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import type { Changes } from "../store/changes.ts";
import { readOnlyReason } from "../store/readonly.ts";
import type { ThreadStore } from "../store/thread.ts";
import { parseReview } from "../lib/review.ts";
import { Icon } from "../lib/icons.tsx";
import { plural, relative, visible } from "../lib/format.ts";
import { CallError } from "../wire/connection.ts";
import type { ReviewTarget } from "../wire/types.ts";
import { openDialog } from "../store/dialog.ts";
import { Frame } from "./frame.tsx";

type Kind = ReviewTarget["type"];

const targets: readonly [Kind, string, string][] = [
	["uncommittedChanges", "Uncommitted changes", "staged, unstaged and untracked"],
	["baseBranch", "Changes since a branch", "of the current branch, since it left the other one"],
	["commit", "A commit", "by its hash"],
	["custom", "Something else", "as you describe it"],
];

const fieldLabels: Partial<Record<Kind, string>> = { baseBranch: "Branch", commit: "Commit", custom: "What to review" };

function targetOf(kind: Kind, text: string): ReviewTarget {
	switch (kind) {
		case "uncommittedChanges": return { type: kind };
		case "baseBranch": return { type: kind, branch: text };
		case "commit": return { type: kind, sha: text };
		case "custom": return { type: kind, instructions: text };
	}
}

/** ReviewButton opens the dialog that starts a review. */
export function ReviewButton({ store }: { store: ThreadStore }) {
	const reason = readOnlyReason(store);
	return (
		<button type="button" disabled={reason !== ""} title={reason || "Let the model review changes"}
			onClick={() => openDialog({ kind: "part", view: () => <StartReview store={store} /> })}>Review…</button>
	);
}

function StartReview({ store }: { store: ThreadStore }) {
	const [kind, setKind] = useState<Kind>("uncommittedChanges");
	const [texts, setTexts] = useState<Partial<Record<Kind, string>>>({ baseBranch: "main" });
	const [detached, setDetached] = useState(false);
	const [failure, setFailure] = useState("");
	const text = (texts[kind] ?? "").trim();
	const label = fieldLabels[kind];
	const run = async () => {
		try {
			const started = await store.requests.call("review/start", {
				threadId: store.id, target: targetOf(kind, text), delivery: detached ? "detached" : "inline",
			});
			if (started.reviewThreadId !== store.id) app.show(started.reviewThreadId);
			return true;
		} catch (error) {
			setFailure(error instanceof CallError ? error.message : String(error));
			return false;
		}
	};
	const field = {
		value: texts[kind] ?? "", "aria-invalid": failure !== "",
		onInput: (e: { currentTarget: { value: string } }) => {
			setFailure("");
			setTexts({ ...texts, [kind]: e.currentTarget.value });
		},
	};
	return (
		<Frame title="Review changes" action="Start" disabled={label !== undefined && text === ""} run={run}>
			<fieldset>
				<legend class="visually-hidden">What to review</legend>
				{targets.map(([value, name, detail]) => (
					<label class="option">
						<input type="radio" name="target" checked={kind === value} onChange={() => {
							setFailure("");
							setKind(value);
						}} />
						<span>{name} <span class="faint">{detail}</span></span>
					</label>
				))}
			</fieldset>
			{label && (
				<label class="field"><span>{label}</span>
					{kind === "custom" ? <textarea rows={4} {...field} /> : <input type="text" spellcheck={false} {...field} />}
				</label>
			)}
			{failure && <p class="error-text" role="alert">{visible(failure)}</p>}
			<label class="mode"><input type="checkbox" checked={detached} onChange={(e) => setDetached(e.currentTarget.checked)} />Review in a fork of this thread</label>
			<p class="faint">The reviewer runs commands in the sandbox of the thread. This thread gets the result only.</p>
		</Frame>
	);
}

/** lastReview returns the text of the newest review of the loaded part of a thread, null while it runs. */
function lastReview(store: ThreadStore): { text: string | null } | undefined {
	const entries = store.items.timeline.entries;
	for (let i = entries.length - 1; i >= 0; i--) {
		const d = entries[i]!.data;
		if (d.type !== "item") continue;
		if (d.item.type === "exitedReviewMode") return { text: d.item.review };
		if (d.item.type === "enteredReviewMode" && d.turnId === store.turns.current.value) return { text: null };
	}
	return undefined;
}

/** Findings shows the newest review of the thread. */
export function Findings({ store, c }: { store: ThreadStore; c: Changes }) {
	const last = lastReview(store);
	const review = useMemo(() => (last?.text ? parseReview(last.text) : null), [last?.text]);
	if (!last) return null;
	if (!review) return <p class="side-note" role="status"><Icon name="eye" />A review is running…</p>;
	const cwd = store.settings.thread.value?.cwd ?? "";
	return (
		<details class="findings" open>
			<summary>Review: {review.findings.length === 0 ? "no findings" : plural(review.findings.length, "finding")}</summary>
			<div class="findings-body scroll" tabIndex={0} role="group" aria-label="Findings">
				{review.explanation && <p class="pre">{visible(review.explanation)}</p>}
				<ol>
					{review.findings.map((f) => (
						<li>
							<button type="button" class="finding" onClick={() => c.reveal(f.path, f.first)}>
								<span class="finding-title">{visible(f.title)}</span>
								<code>{visible(relative(f.path, cwd))}:{f.first === f.last ? f.first : `${f.first}-${f.last}`}</code>
							</button>
							{f.body && <p class="pre faint">{visible(f.body)}</p>}
						</li>
					))}
				</ol>
			</div>
		</details>
	);
}
