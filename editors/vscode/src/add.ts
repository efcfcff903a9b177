// The commands that add places of the editor to the message of a thread. They send nothing.

import * as vscode from "vscode";
import { mention, problemsText, selectionText, shortPath, type Problem } from "./reference.ts";

const severities = ["error", "warning", "information", "hint"] as const;

/** Reference returns the text for a thread in a folder, or null after it has told the user why there is none. */
export type Reference = (folder: string) => string | null;

const none = (text: string): null => {
	void vscode.window.showInformationMessage(text);
	return null;
};

const pathOf = (uri: vscode.Uri, folder: string): string =>
	uri.scheme === "file" ? shortPath(uri.fsPath, folder) : uri.path.slice(uri.path.lastIndexOf("/") + 1);

/** selection refers to the selection of the active editor, or without one to the line of the caret. */
export const selection: Reference = (folder) => {
	const editor = vscode.window.activeTextEditor;
	if (!editor) return none("No text editor is active. Select a text in an editor, and run the command again.");
	const { document, selection: at } = editor;
	// A selection of whole lines ends at the start of the next line.
	const last = at.end.character === 0 && at.end.line > at.start.line ? at.end.line : at.end.line + 1;
	const text = at.isEmpty ? document.lineAt(at.start.line).text : document.getText(at);
	return selectionText(pathOf(document.uri, folder), { first: at.start.line + 1, last }, text, document.languageId);
};

/** files refers to the files that are selected in the explorer, or to the one of the active editor. */
export const files = (uri?: vscode.Uri, selected?: readonly vscode.Uri[]): Reference => (folder) => {
	const active = vscode.window.activeTextEditor?.document.uri;
	const uris = selected?.length ? selected : uri ? [uri] : active ? [active] : [];
	const names = uris.filter((u) => u.scheme === "file").map((u) => mention(shortPath(u.fsPath, folder), null));
	return names.length === 0 ? none("No file is active. Open a file, or choose one in the explorer.") : names.join("\n");
};

/** diagnostics refers to the problems of the active editor, or of its selection if that is not empty. */
export const diagnostics: Reference = (folder) => {
	const editor = vscode.window.activeTextEditor;
	if (!editor) return none("No text editor is active. Open the file with the problems, and run the command again.");
	const { document, selection: at } = editor;
	const path = pathOf(document.uri, folder);
	const found: Problem[] = vscode.languages.getDiagnostics(document.uri)
		.filter((d) => at.isEmpty || d.range.intersection(at) !== undefined)
		.sort((a, b) => a.severity - b.severity || a.range.start.line - b.range.start.line)
		.map((d) => ({
			path, line: d.range.start.line + 1, severity: severities[d.severity] ?? "hint", message: d.message,
			source: [d.source, typeof d.code === "object" ? d.code.value : d.code].filter((s) => s !== undefined).join(" "),
		}));
	if (found.length === 0) return none(`${path} has no problems${at.isEmpty ? "" : " in the selection"}.`);
	return problemsText(found);
};
