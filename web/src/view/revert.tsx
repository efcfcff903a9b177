// The dialog that shows what a revert would do, before it is done.

import { useState } from "preact/hooks";
import { changesOf } from "../store/changes.ts";
import { readOnlyReason } from "../store/readonly.ts";
import { useResource } from "./useresource.ts";
import type { ThreadStore } from "../store/thread.ts";
import { files, type FilePatch } from "../lib/patch.ts";
import { plural, visible } from "../lib/format.ts";
import type { CallError } from "../wire/connection.ts";
import type { Checkpoint, ThreadCheckpointRevertResponse } from "../wire/types.ts";
import { Counts, FileLines, Mark } from "./diffrows.tsx";
import { Frame } from "./frame.tsx";
import { readNames, RemovedTurns } from "./removedturns.tsx";

type Mode = ThreadCheckpointRevertResponse["mode"];

const modes: readonly [Mode, string, string][] = [
	["both", "Files and conversation", "The files get their content of before the turn, and the turn and all later ones leave the conversation."],
	["files", "Files only", "Files that this thread has changed since then get their former content. The conversation stays."],
	["conversation", "Conversation only", "The turn and all later ones leave the conversation. The files stay."],
];

interface Props {
	store: ThreadStore;
	point: Pick<Checkpoint, "id" | "kind" | "inThread">;
	title: string;
	done(): void;
}

/** RevertDialog shows what a revert does, and reverts. */
export function RevertDialog({ store, point, title, done }: Props) {
	const filesOnly = point.kind === "revert" || !point.inThread;
	const [mode, setMode] = useState<Mode>(filesOnly ? "files" : "both");
	const [failure, setFailure] = useState<CallError | null>(null);
	const request = { threadId: store.id, turnId: point.id, mode };
	const preview = useResource(() => store.requests.call("thread/checkpoint/revert", { ...request, dryRun: true }),
		[mode]);
	const effect = preview.value.value;
	const problem = failure ?? preview.failure.value;
	const nothing = effect !== null && effect.summary.files.length === 0 && effect.removedTurnIds.length === 0;
	const reason = readOnlyReason(store);
	const run = async () => {
		try {
			const names = await readNames(store, effect!.removedTurnIds);
			const result = await store.requests.call("thread/checkpoint/revert",
				{ ...request, expectedLastTurnId: effect!.lastTurnId });
			store.reverts.removed({ ids: result.removedTurnIds, first: names[0]!, last: names.at(-1)! });
			const c = changesOf(store);
			c.reverted.value = {
				files: result.summary.files.length, turns: result.removedTurnIds.length,
				undo: result.undoCheckpointId ? { id: result.undoCheckpointId, kind: "revert", inThread: true } : null,
			};
			c.soon();
			done();
			return true;
		} catch (error) {
			setFailure(error as CallError);
			if ((error as CallError).kind === "staleTurn") void preview.load();
			return false;
		}
	};
	return (
		<Frame title={title} action={actionOf(effect, problem)} danger disabled={effect === null || problem !== null ||
			nothing || reason !== ""} run={run}>
			{!filesOnly && (
				<fieldset>
					<legend class="visually-hidden">What to revert</legend>
					{modes.map(([value, label, text]) => (
						<label class="option">
							<input type="radio" name="mode" checked={mode === value} onChange={() => {
								setFailure(null);
								setMode(value);
							}} />
							<span>{label}<span class="faint block">{text}</span></span>
						</label>
					))}
				</fieldset>
			)}
			{reason && <p class="error-text" role="alert">{reason}</p>}
			{problem ? <Problem error={problem} /> : effect === null ? <p class="faint" role="status">Looking what would change…</p>
				: nothing ? <p role="status">Nothing would change.</p> : <Effect effect={effect} store={store} />}
		</Frame>
	);
}

function actionOf(effect: ThreadCheckpointRevertResponse | null, problem: CallError | null): string {
	if (!effect || problem) return "Revert";
	const parts = [];
	if (effect.summary.files.length > 0) parts.push(`Revert ${plural(effect.summary.files.length, "file")}`);
	if (effect.removedTurnIds.length > 0) {
		parts.push(`${parts.length > 0 ? "remove" : "Remove"} ${plural(effect.removedTurnIds.length, "turn")}`);
	}
	return parts.join(", ") || "Revert";
}

function Problem({ error }: { error: CallError }) {
	const paths = error.kind === "checkpointConflict" ? (error.data["paths"] as string[] | undefined) ?? [] : [];
	if (paths.length === 0) return <p class="error-text" role="alert">{visible(error.message)}</p>;
	return (
		<div class="conflict" role="alert">
			<p class="error-text">Something else has changed {paths.length === 1 ? "this file" : "these files"} since then. Nothing is reverted, so that no change is lost.</p>
			<ul>{paths.map((p) => <li><code>{visible(p)}</code></li>)}</ul>
		</div>
	);
}

function FileDetails({ file }: { file: FilePatch }) {
	const [open, setOpen] = useState(false);
	return (
		<li>
			<details onToggle={(e) => setOpen(e.currentTarget.open)}>
				<summary><Mark kind={file.kind} /><code class="ellipsis">{visible(file.path)}</code><Counts additions={file.additions} deletions={file.deletions} /></summary>
				{open && <FileLines file={file} />}
			</details>
		</li>
	);
}

function Effect({ effect, store }: { effect: ThreadCheckpointRevertResponse; store: ThreadStore }) {
	return (
		<div class="revert-effect">
			{effect.summary.files.length > 0 && (
				<>
					<h3>{plural(effect.summary.files.length, "file")} {effect.summary.files.length === 1 ? "changes" : "change"}</h3>
					<ul class="plain">
						{files(effect.diff, effect.summary).map((f) => (
							<FileDetails file={f} />
						))}
					</ul>
				</>
			)}
			{effect.removedTurnIds.length > 0 && <RemovedTurns store={store} ids={effect.removedTurnIds} />}
		</div>
	);
}
