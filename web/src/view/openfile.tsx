// Opens files that texts name, and whole outputs of commands.

import { lazy } from "../lib/lazy.tsx";
import { resolved, type PathPlace } from "../lib/openpath.ts";
import { firstLine, visible } from "../lib/format.ts";
import { scriptOf } from "../lib/shell.ts";
import { openDialog } from "../store/dialog.ts";
import type { ThreadStore } from "../store/thread.ts";
import { editor, inEditor } from "../wire/editor.ts";
import { Frame } from "./frame.tsx";

const WholeOutput = lazy(() => import("./fileview.tsx").then((m) => m.WholeOutput));

const maxTitle = 100;

/**
 * openFile opens a file at a line: in the editor that shows the page, or else in the changes of the thread if they have
 * the file, or else read-only. Files outside of the thread's folder are not opened.
 */
export function openFile(store: ThreadStore, { path, line }: PathPlace): void {
	const cwd = store.settings.thread.value?.cwd ?? "";
	const below = resolved(path, cwd);
	if (below === null) {
		store.notices.add("warning", `${visible(path)} is not in the folder of the thread, and is not opened.`);
		return;
	}
	const absolute = `${cwd}/${below}`;
	if (inEditor()) {
		editor.request({ type: "appserver/openFile", path: absolute, line });
		return;
	}
	void import("./fileview.tsx").then((m) => m.openInPage(store, absolute, below, line))
		.catch((error) => store.notices.report(error));
}

/** openOutput shows the whole output of a command, also while it runs. */
export function openOutput(store: ThreadStore, turnId: string, itemId: string, command: string): void {
	openDialog({ kind: "part", view: () => (
		<Frame title={firstLine(visible(scriptOf(command)), maxTitle)} wide>
			<WholeOutput store={store} turnId={turnId} itemId={itemId} />
		</Frame>
	) });
}
