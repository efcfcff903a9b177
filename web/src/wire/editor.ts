// The editor that shows the page, if one does.

/** Editor is the interface that Visual Studio Code gives to a page. */
export interface Editor {
	postMessage(message: unknown): void;
	getState(): unknown;
	setState(state: unknown): void;
}

declare const acquireVsCodeApi: (() => Editor) | undefined;

/** Request asks the editor to show a file, or the change of a file in a scope of the Changes tab. Line 0 is none. */
export type Request =
	| { type: "appserver/openFile"; path: string; line: number }
	| { type: "appserver/openDiff"; threadId: string; scope: string; path: string };

/** inEditor reports whether an editor shows the page, and connects it. */
export const inEditor = (): boolean => typeof acquireVsCodeApi === "function";

/** editor is the editor that shows the page. */
export const editor = {
	/** api is null in a browser, and before the page connects. */
	api: null as Editor | null,
	/** folder is the folder of the editor's window, or empty. */
	folder: "",
	/** acquire returns the interface of the editor, which gives it once only, or null in a browser. */
	acquire(): Editor | null {
		if (typeof acquireVsCodeApi === "function") this.api = acquireVsCodeApi();
		return this.api;
	},
	/** request sends a request to the editor, if one shows the page. */
	request(request: Request): void {
		this.api?.postMessage(request);
	},
};
