// Questions whether a command may run, or files may be changed.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { terminal } from "../lib/ansi.tsx";
import { Icon } from "../lib/icons.tsx";
import { visible } from "../lib/format.ts";
import type { ThreadStore } from "../store/thread.ts";
import { DiffView } from "./diff.tsx";
import type {
	ApprovalDecision, CommandExecutionItem, CommandExecutionRequestApprovalParams, FileChangeRequestApprovalParams,
} from "../wire/types.ts";

/** shownOutput is the number of characters of a failed command's output that a question shows, from its end. */
const shownOutput = 4000;

/** Buttons is the row of answers. */
export function Buttons({ children }: { children: ComponentChildren }) {
	return <div class="question-buttons">{children}</div>;
}

/** KeysHint says which keys answer a question, or how to get there from a field. */
export function KeysHint({ keys }: { keys: string }) {
	return (
		<p class="faint question-keys">
			<span class="keys-here">Keys: {keys}.</span>
			<span class="keys-typing">From a field: Alt+Q, then {keys}.</span>
		</p>
	);
}

function decisionText(d: ApprovalDecision): { label: string; key: string; primary?: boolean } {
	if (typeof d !== "string") {
		const rule = d.acceptWithExecpolicyAmendment.execpolicy_amendment.join(" ");
		return { label: `Allow and do not ask for: ${visible(rule)}`, key: "" };
	}
	return {
		accept: { label: "Allow once", key: "y", primary: true }, acceptForSession: { label: "Allow for this session", key: "s" },
		decline: { label: "Decline", key: "n" }, cancel: { label: "Decline and stop", key: "c" },
	}[d];
}

interface ApprovalProps<P> {
	p: P;
	store: ThreadStore;
	ready: boolean;
	answer(result: unknown): void;
}

interface DecisionsProps extends ApprovalProps<{ turnId: string }> {
	list: readonly ApprovalDecision[];
	/** what is the object of the question. */
	what: string;
}

/** Decisions has a button for each answer, and a field for the reason of a decline. */
function Decisions({ p, store, list, what, ready, answer }: DecisionsProps) {
	const [reason, setReason] = useState("");
	const [sending, setSending] = useState(false);
	const decide = async (decision: ApprovalDecision) => {
		if (!ready || sending) return;
		setSending(true);
		try {
			// The model gets the reason together with the decline.
			if (decision === "decline" && reason.trim() !== "") {
				await store.turns.explain(p.turnId, `I declined ${what}: ${reason.trim()}`);
			}
			answer({ decision });
		} catch (error) {
			store.notices.report(error);
		} finally {
			setSending(false);
		}
	};
	return (
		<>
			<Buttons>
				{list.map((d) => {
					const { label, key, primary } = decisionText(d);
					return (
						<button type="button" class={primary ? "primary" : ""} disabled={!ready || sending} data-answer={key} onClick={() => void decide(d)}>
							{label}{key && <kbd aria-hidden="true">{key.toUpperCase()}</kbd>}
						</button>
					);
				})}
			</Buttons>
			<div class="question-reason">
				<input type="text" aria-label="Reason for a decline" placeholder="Reason for a decline (optional)" autocomplete="off"
					value={reason} onInput={(e) => setReason(e.currentTarget.value)} onKeyDown={(e) => {
						if (e.key !== "Enter" || e.isComposing) return;
						e.preventDefault();
						if (reason.trim() !== "") void decide("decline");
					}} />
				<KeysHint keys="Y, S, N or C" />
			</div>
		</>
	);
}

/** failedItem returns the item of a command that ran already, and is asked about again because it failed. */
export function failedItem(store: ThreadStore, p: { turnId: string; itemId: string }): CommandExecutionItem | null {
	const entry = store.items.timeline.item(p.turnId, p.itemId);
	void entry?.version.value;
	const item = entry?.data.item;
	return item?.type === "commandExecution" && (item.aggregatedOutput ?? "") !== "" ? item : null;
}

/** CommandQuestion asks whether a command may run, or run again. */
export function CommandQuestion(q: ApprovalProps<CommandExecutionRequestApprovalParams>) {
	const { p, store } = q;
	const failed = failedItem(store, p);
	return (
		<>
			{failed ? <p class="question-failed"><Icon name="warning" />It ran in the sandbox and failed. If you allow it, it runs again, outside of
				the sandbox. If you decline, the agent gets the failure.</p> : p.reason && <p>{visible(p.reason)}</p>}
			<pre class="question-command" tabIndex={0} aria-label="command">{visible(p.command)}</pre>
			<p class="faint">in <code>{visible(p.cwd)}</code></p>
			{failed && <pre class="output question-output" tabIndex={0} aria-label="output of the failed command">
				{terminal(failed.aggregatedOutput!, shownOutput)}</pre>}
			<Decisions {...q} list={p.availableDecisions} what="the command" />
		</>
	);
}

/** FileQuestion asks whether files may be changed. */
export function FileQuestion(q: ApprovalProps<FileChangeRequestApprovalParams>) {
	const { p, store } = q;
	const entry = store.items.timeline.item(p.turnId, p.itemId);
	const item = entry?.data.item;
	return (
		<>
			{p.reason && <p>{visible(p.reason)}</p>}
			{p.grantRoot && <p>It asks to write below <code>{visible(p.grantRoot)}</code>.</p>}
			{item?.type === "fileChange" && (
				<div class="question-diff">
					{item.changes.map((c) => (
						<>
							<div class="question-path"><Icon name="file" /><code>{visible(c.path)}</code></div>
							<DiffView diff={c.diff} kind={c.kind.type} />
						</>
					))}
				</div>
			)}
			<Decisions {...q} list={["accept", "acceptForSession", "decline", "cancel"]} what="the changes" />
		</>
	);
}
