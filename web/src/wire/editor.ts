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

/** editor is the editor that shows the page. The editor gives its interface once only. */
export const editor = {
	/** api is null in a browser. */
	api: typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : null,
	/** folder is the folder of the editor's window, or empty. */
	folder: "",
	/** request sends a request to the editor, if one shows the page. */
	request(request: Request): void {
		this.api?.postMessage(request);
	},
};
