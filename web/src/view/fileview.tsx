// A file of the thread's folder, read-only, and the whole output of a command.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import * as app from "../store/app.ts";
import type { ThreadStore } from "../store/thread.ts";
import { longOutput, terminal } from "../lib/ansi.tsx";
import { FollowedOutput } from "../lib/follow.tsx";
import { count, visible } from "../lib/format.ts";
import { Load } from "./parts.tsx";
import { useResource } from "./useresource.ts";

const maxLines = 20_000;
const maxLine = 2000;

/** FileView shows a file, and scrolls to a line. */
export function FileView({ path, line }: { path: string; line: number }) {
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
