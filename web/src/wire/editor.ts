// The editor that shows the page, if one does.

/** Editor is the interface that Visual Studio Code gives to a page. */
export interface Editor {
	postMessage(message: unknown): void;
	getState(): unknown;
	setState(state: unknown): void;
}

declare const acquireVsCodeApi: (() => Editor) | undefined;

let acquired: Editor | null | undefined;

/** editor returns the editor that shows the page, or null. The editor gives its interface once only. */
export function editor(): Editor | null {
	acquired ??= typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : null;
	return acquired;
}

let folder = "";

/** editorFolder returns the folder of the editor's window, or an empty text. */
export const editorFolder = (): string => folder;

/** setEditorFolder takes the folder of the editor's window. */
export function setEditorFolder(path: string): void {
	folder = path;
}

/** openDiffInEditor shows the change of a file in the editor. The scope is the one of the Changes tab. */
export function openDiffInEditor(threadId: string, scope: string, path: string): void {
	editor()?.postMessage({ type: "appserver/openDiff", threadId, scope, path });
}
