// A file of the thread's folder, read-only, and the whole output of a command.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import * as app from "../store/app.ts";
import { changesOf } from "../store/changes.ts";
import { openDialog } from "../store/dialog.ts";
import { showPanel } from "../store/panels.ts";
import type { ThreadStore } from "../store/thread.ts";
import { longOutput, terminal } from "../lib/ansi.tsx";
import { FollowedOutput } from "../lib/follow.tsx";
import { count, visible } from "../lib/format.ts";
import { Frame } from "./frame.tsx";
import { Load } from "./parts.tsx";
import { useResource } from "./useresource.ts";

const maxLines = 20_000;
const maxLine = 2000;

/** openInPage shows a file in the changes of the thread if they have it, or else read-only. */
export async function openInPage(store: ThreadStore, absolute: string, name: string, line: number): Promise<void> {
	if (await isChanged(store, absolute)) {
		showPanel("changes");
		changesOf(store).reveal(absolute, Math.max(line, 1));
		return;
	}
	openDialog({ kind: "part", view: () => (
		<Frame title={visible(name)} wide><FileView path={absolute} line={line} /></Frame>
	) });
}

/** isChanged reports whether the changes of the thread have a file. */
async function isChanged(store: ThreadStore, absolute: string): Promise<boolean> {
	const { call, threadId } = store.requests;
	const all = await call("thread/diff/read", { threadId }).catch(() => null);
	return all?.summary.files.some((f) => absolute.endsWith(`/${f.path}`)) ?? false;
}

/** FileView shows a file, and scrolls to a line. */
function FileView({ path, line }: { path: string; line: number }) {
	const file = useResource(() => readText(path), [path]);
	return <Load resource={file} what="The file">{(text) => <Lines text={text} line={line} />}</Load>;
}

async function readText(path: string): Promise<string> {
	const { dataBase64 } = await app.connection.value!.call("fs/readFile", { path });
	return new TextDecoder().decode(Uint8Array.from(atob(dataBase64), (c) => c.charCodeAt(0)));
}

function Lines({ text, line }: { text: string; line: number }) {
	const marked = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => marked.current?.scrollIntoView({ block: "center" }), []);
	if (text.includes("\u0000")) return <p class="hint">A binary file: its content is not shown.</p>;
	const all = text.replace(/\n$/, "").split("\n");
	return (
		<div class="file-view" tabIndex={0} role="group" aria-label="lines of the file">
			{all.slice(0, maxLines).map((l, i) => (
				<div class={`diff-row ${i + 1 === line ? "marked" : ""}`} ref={i + 1 === line ? marked : undefined}>
					<span class="line-number">{i + 1}</span><span class="line-content">{visible(l.slice(0, maxLine)) || " "}</span>
				</div>
			))}
			{all.length > maxLines && <p class="diff-note">… {count(all.length - maxLines)} more lines</p>}
		</div>
	);
}

/** WholeOutput shows the output of a command in full. It stays at the end while the command runs. */
export function WholeOutput({ store, turnId, itemId }: { store: ThreadStore; turnId: string; itemId: string }) {
	const entry = store.items.timeline.item(turnId, itemId);
	void entry?.version.value;
	useEffect(() => {
		if (entry && entry.data.truncated && !entry.whole) void store.items.readItem(entry);
	}, []);
	const item = entry?.data.item;
	const output = item?.type === "commandExecution" ? item.aggregatedOutput ?? "" : "";
	if (output === "") return <p class="hint">No output.</p>;
	return <FollowedOutput class="whole" label="whole output" at={output}>{terminal(output, longOutput)}</FollowedOutput>;
}
