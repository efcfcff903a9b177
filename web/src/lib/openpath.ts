// Files that the editor opens which shows the page.

import { editor } from "../wire/editor.ts";

/** openPath opens a file in the editor, at a line if that is not 0. It reports whether an editor shows the page. */
export function openPath(path: string, line: number): boolean {
	editor()?.postMessage({ type: "appserver/openFile", path, line });
	return editor() !== null;
}
