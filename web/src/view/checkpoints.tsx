// The checkpoints of a thread: compare them, and revert to one.

import { useEffect, useState } from "preact/hooks";
import { connected } from "../store/app.ts";
import { changesOf, turnNames } from "../store/changes.ts";
import { readConfig } from "../store/config.ts";
import { readOnlyReason } from "../store/readonly.ts";
import { useResource } from "./useresource.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { at } from "../lib/flatten.ts";
import { age, firstLine, plural, visible } from "../lib/format.ts";
import { toggled } from "../lib/toggled.ts";
import type { Checkpoint } from "../wire/types.ts";
import { openDialog } from "../store/dialog.ts";
import { openSettings } from "./opensettings.tsx";
import { Load } from "./parts.tsx";
import { showPanel } from "../store/panels.ts";
import { RevertDialog } from "./revert.tsx";

const pageSize = 100;
const nameLength = 70;

const changing = new Set(["turn/completed", "thread/reverted", "turn/started"]);

/** CheckpointsPanel lists the checkpoints of a thread. */
export function CheckpointsPanel({ store }: { store: ThreadStore }) {
	const c = changesOf(store);
	const [pages, setPages] = useState(1);
	const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
	const list = useResource(() => readPages(store, pages), [store, pages]);
	useEffect(() => store.watch((n) => changing.has(n.method) && list.soon()), [list]);
	const names = turnNames(store);
	const reverted = c.reverted.value;
	return (
		<>
			{reverted && (
				<div class="banner done" role="status">
					<Icon name="check" />
					<span>Reverted {plural(reverted.files, "file")}{reverted.turns > 0 &&
						`, removed ${plural(reverted.turns, "turn")}`}.</span>
					{reverted.undo && <button type="button" class="small" onClick={() => revert(store, reverted.undo!, "Undo the revert", () => void list.load())}>Undo this revert…</button>}
					<button class="quiet" type="button" aria-label="Close" onClick={() => (c.reverted.value = null)}><Icon name="x" /></button>
				</div>
			)}
			<Load resource={list} what="The checkpoints">{({ data, more, off }) => {
				if (off) return <div class="hint"><p>Checkpoints are turned off in the configuration.</p><button type="button" onClick={openSettings}>Settings…</button></div>;
				if (data.length === 0) return <p class="hint">No checkpoints yet. The server makes one before each turn.</p>;
				const chosen = data.filter((p) => picked.has(p.id)); // newest first
				return (
					<>
						<ol class="points scroll" tabIndex={0} aria-label="Checkpoints, newest first">
							{data.map((p) => (
								<Point key={p.id} point={p} name={nameOf(p, names)} store={store} picked={picked.has(p.id)}
									full={chosen.length === 2} pick={() => setPicked(toggled(picked, p.id))} done={() => void list.load()} />
							))}
							{more && <li class="point"><button type="button" class="small" onClick={() => setPages(pages + 1)}>Show older checkpoints</button></li>}
						</ol>
						<div class="footer">
							{chosen.length === 0 ? <p class="faint">Choose one or two checkpoints to compare them.</p> : (
								<div class="footer-actions">
									<button type="button" onClick={() => setPicked(new Set())}>Clear</button>
									<span class="spacer" />
									<button type="button" class="primary" disabled={!connected()} onClick={() => {
										c.choose(chosen.length === 1 ? `since:${chosen[0]!.id}` : `between:${chosen[1]!.id}:${chosen[0]!.id}`);
										showPanel("changes");
									}}>{chosen.length === 1 ? "Compare with now" : "Compare the two"}</button>
								</div>
							)}
						</div>
					</>
				);
			}}</Load>
		</>
	);
}

async function readPages(store: ThreadStore,
	pages: number): Promise<{ data: Checkpoint[]; more: boolean; off: boolean }> {
	const data: Checkpoint[] = [];
	let cursor: string | null = null;
	for (let i = 0; i < pages; i++) {
		const page: Awaited<ReturnType<typeof readPage>> = await readPage(store, cursor);
		data.push(...page.data);
		cursor = page.nextCursor;
		if (!cursor) break;
	}
	const off = data.length === 0 && at((await readConfig()).config, "checkpoints.enabled") === false;
	return { data, more: cursor !== null, off };
}

function readPage(store: ThreadStore, cursor: string | null) {
	return store.requests.call("thread/checkpoint/list", { threadId: store.id, limit: pageSize, cursor });
}

function nameOf(p: Checkpoint, names: ReadonlyMap<string, string>): string {
	if (p.kind === "revert") return "Before a revert";
	const message = names.get(p.turnId ?? "");
	return message ? `Before: ${firstLine(visible(message), nameLength)}` : "Before an earlier turn";
}

function revert(store: ThreadStore, point: Pick<Checkpoint, "id" | "kind" | "inThread">, title: string,
	done: () => void): void {
	openDialog({ kind: "part", view: () => <RevertDialog store={store} point={point} title={title} done={done} /> });
}

interface PointProps {
	point: Checkpoint;
	name: string;
	store: ThreadStore;
	picked: boolean;
	/** full is set if two checkpoints are chosen. */
	full: boolean;
	pick(): void;
	done(): void;
}

function Point({ point, name, store, picked, full, pick, done }: PointProps) {
	const reason = readOnlyReason(store);
	const isRevert = point.kind === "revert";
	return (
		<li class={`point ${picked ? "selected" : ""}`}>
			<input type="checkbox" checked={picked} disabled={full && !picked} aria-label={`Compare: ${name}`} onChange={pick} />
			<div class="point-main">
				<div class="point-name">{isRevert && <Icon name="undo" />}<span>{name}</span></div>
				<div class="faint point-facts">
					<span title={new Date(point.createdAt * 1000).toLocaleString()}>{age(point.createdAt)}</span>
					<span>{plural(point.changedFiles, "changed file")}</span>
					{!point.inThread && !isRevert && <span class="badge off">turn removed</span>}
				</div>
			</div>
			<button type="button" class="small" disabled={reason !== ""} title={reason || undefined}
				onClick={() => revert(store, point, isRevert ? "Undo the revert" : "Revert to the checkpoint", done)}>{isRevert ? "Undo this revert…" : "Revert…"}</button>
		</li>
	);
}
