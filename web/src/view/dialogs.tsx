// The dialogs of the page.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { lazy } from "../lib/lazy.tsx";
import * as app from "../store/app.ts";
import { closeDialog, dialog } from "../store/dialog.ts";
import { titleOf } from "../store/titles.ts";
import type { Thread } from "../wire/types.ts";
import { Frame } from "./frame.tsx";
import { shortcuts } from "./keys.ts";

const Compact = lazy(() => import("./compaction.tsx").then((m) => m.Compact));
const Trim = lazy(() => import("./contextdialogs.tsx").then((m) => m.Trim));
const Prune = lazy(() => import("./contextdialogs.tsx").then((m) => m.Prune));
const Restore = lazy(() => import("./contextdialogs.tsx").then((m) => m.Restore));
const Replace = lazy(() => import("./contextdialogs.tsx").then((m) => m.Replace));
const EditSummary = lazy(() => import("./contextdialogs.tsx").then((m) => m.EditSummary));
const NewThread = lazy(() => import("./newthread.tsx").then((m) => m.NewThread));
const Palette = lazy(() => import("./palette.tsx").then((m) => m.Palette));

/** Dialogs shows the dialog that is open. */
export function Dialogs() {
	const d = dialog.value;
	if (!d) return null;
	switch (d.kind) {
		case "new": return <NewThread />;
		case "keys": return <Keys />;
		case "palette": return <Frame title="Commands"><Palette close={closeDialog} /></Frame>;
		case "rename": return <Rename thread={d.thread} />;
		case "delete": return <Delete thread={d.thread} />;
		case "trim": return <Trim store={d.store} />;
		case "compact": return <Compact store={d.store} />;
		case "prune": return <Prune store={d.store} />;
		case "restore": return <Restore store={d.store} />;
		case "replace": return <Replace store={d.store} item={d.item} />;
		case "part": return <>{d.view() as ComponentChildren}</>;
		case "summary": return <EditSummary store={d.store} trimPointId={d.trimPointId} text={d.text} />;
	}
}

function Keys() {
	return (
		<Frame title="Keyboard shortcuts">
			{shortcuts.map(([where, keys]) => (
				<section class="keys">
					<h3>{where}</h3>
					<dl>{keys.map(([k, what]) => <div><dt>{k.split(" ").map((part) => <kbd>{part}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
				</section>
			))}
		</Frame>
	);
}

function Rename({ thread }: { thread: Thread }) {
	const [name, setName] = useState(thread.name ?? "");
	return (
		<Frame title="Rename the thread" action="Rename" disabled={name.trim() === ""}
			run={async () => (await app.attempt((c) => c.call("thread/name/set", { threadId: thread.id, name: name.trim() })))
				!== null}>
			<label class="field"><span>Name</span><input type="text" value={name} onInput={(e) => setName(e.currentTarget.value)} /></label>
		</Frame>
	);
}

function Delete({ thread }: { thread: Thread }) {
	return (
		<Frame title="Delete the thread?" action="Delete" danger
			run={async () => (await app.attempt((c) => c.call("thread/delete", { threadId: thread.id }))) !== null}>
			<p><strong>{titleOf(thread)}</strong></p>
			<p>Its messages and its edits are removed from the disk. This cannot be undone.</p>
		</Frame>
	);
}
