// The commands of a thread that run in the background.

import { useEffect } from "preact/hooks";
import { connected } from "../store/app.ts";
import { useResource } from "./useresource.ts";
import type { ThreadStore } from "../store/thread.ts";
import { terminal } from "../lib/ansi.tsx";
import { FollowedOutput } from "../lib/follow.tsx";
import { Icon } from "../lib/icons.tsx";
import { relative, visible } from "../lib/format.ts";
import { scriptOf } from "../lib/shell.ts";
import type { ServerNotification, ThreadBackgroundTerminal } from "../wire/types.ts";
import { confirm } from "./confirm.tsx";
import { Load } from "./parts.tsx";

/** tail is the number of characters of an output that are shown, from its end. */
const tail = 6000;

const changing = new Set(["item/started", "item/completed", "turn/completed"]);

/** TerminalsPanel lists the background commands of a thread. */
export function TerminalsPanel({ store }: { store: ThreadStore }) {
	const list = useResource(() => store.requests.call("thread/backgroundTerminals/list", { threadId: store.id }),
		[store]);
	useEffect(() => store.watch((n: ServerNotification) => changing.has(n.method) && list.soon()), [list]);
	const phase = store.phase.value;
	if (phase === "archived" || phase === "locked") {
		return <p class="hint">{phase === "archived" ? "An archived thread has no background terminals." : "Another program has the thread open, and runs its terminals."}</p>;
	}
	const stopAll = (n: number) => confirm({
		title: "Stop all background terminals?", action: `Stop ${n}`,
		text: <p>The commands and all processes that they started are killed.</p>,
		run: () => store.requests.call("thread/backgroundTerminals/clean", { threadId: store.id }).then(() => list.load()),
	});
	return (
		<Load resource={list} what="The terminals">{({ data }) => (data.length === 0
			? <p class="hint">No command runs in the background.</p>
			: (
				<>
					{data.length > 1 && (
						<div class="side-head"><span>{data.length} commands run in the background</span><span class="spacer" />
							<button type="button" disabled={!connected()} onClick={() => stopAll(data.length)}>Stop all…</button></div>
					)}
					<ul class="points scroll" aria-label="Background terminals" tabIndex={0}>
						{data.map((t) => <TerminalRow key={t.processId} t={t} store={store} reload={() => list.load()} />)}
					</ul>
				</>
			))}</Load>
	);
}

function TerminalRow({ t, store,
	reload }: { t: ThreadBackgroundTerminal; store: ThreadStore; reload(): Promise<void> }) {
	const command = visible(scriptOf(t.command));
	const folder = relative(t.cwd, store.settings.thread.value?.cwd ?? "");
	const stop = () => confirm({
		title: "Stop the command?", action: "Stop",
		text: <><pre class="question-command">{command}</pre><p>The command and all processes that it started are killed.</p></>,
		run: () => store.requests.call("thread/backgroundTerminals/terminate", { threadId: store.id, processId: t.processId }).then(reload),
	});
	return (
		<li class="terminal">
			<div class="memory-head">
				<Icon name="terminal" /><code class="terminal-command">{command}</code>
				<button type="button" class="small" disabled={!connected()} aria-label={`Stop: ${command}`} onClick={stop}>Stop…</button>
			</div>
			<div class="faint point-facts"><span>session {visible(t.processId)}</span>{t.osPid !== null && <span>process {t.osPid}</span>}<span>{visible(folder)}</span></div>
			<Output t={t} store={store} />
		</li>
	);
}

/** Output shows the end of the output. */
function Output({ t, store }: { t: ThreadBackgroundTerminal; store: ThreadStore }) {
	const entry = store.items.timeline.entries[store.items.timeline.indexOfItem(t.itemId)];
	void entry?.version.value;
	const item = entry?.data.type === "item" ? entry.data.item : undefined;
	const output = (item?.type === "commandExecution" ? item.aggregatedOutput : store.items.outputs.value.get(t.itemId))
		?? "";
	if (output === "") return <p class="faint">No output yet.</p>;
	return (
		<FollowedOutput label={`output of ${visible(scriptOf(t.command))}`} at={output}>
			{terminal(output, tail)}</FollowedOutput>
	);
}
