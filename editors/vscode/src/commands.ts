// The commands of the extension that edit the context.

import * as vscode from "vscode";
import type { ContextItem } from "../../../schema/ts/index.ts";
import { count, plural, visible } from "../../../web/src/lib/format.ts";
import { categoryWords } from "../../../web/src/wire/contextwords.ts";
import { find, type Found } from "./exclude.ts";
import { CallError } from "./rpc.ts";
import type { Session } from "./session.ts";

interface Row extends vscode.QuickPickItem {
	found: Found;
}

/** excludeSelection excludes the items that the user chooses of those that the selection leads to. */
export async function excludeSelection(session: Session, folder: string | undefined): Promise<void> {
	const editor = vscode.window.activeTextEditor;
	if (!editor) {
		void vscode.window.showInformationMessage("No text editor is active. Select a text in an editor, and run the command again.");
		return;
	}
	const threadId = await session.latest(folder);
	if (threadId === null) {
		void vscode.window.showInformationMessage("This folder has no thread. Start one first.");
		return;
	}
	const { thread } = await session.call("thread/read", { threadId, includeTurns: false });
	const path = editor.document.uri.scheme === "file" ? editor.document.uri.fsPath : "";
	const { found, revision } =
		await find(session.call, threadId, thread.cwd, { text: editor.document.getText(editor.selection), path });
	const name = thread.name || thread.preview || "the thread";
	if (found.length === 0) {
		void vscode.window.showInformationMessage(`No item in the context of "${name}" has this text or reads this file.`);
		return;
	}
	const chosen = await vscode.window.showQuickPick(found.map(rowOf), {
		canPickMany: true, matchOnDescription: true, matchOnDetail: true,
		title: `Exclude from the context of "${name}"`, placeHolder: "Choose the items that the next request leaves out",
	});
	if (chosen && chosen.length > 0) await exclude(session, threadId, revision, chosen.map((r) => r.found));
}

function rowOf(found: Found): Row {
	const { item, match, reads } = found;
	const icon = { toolCall: "terminal", toolOutput: "output", userMessage: "account", reasoning: "lightbulb" }[item.category as string] ?? "comment";
	const facts = [plural(item.tokens, "token"), match === "" ? "" : "has the text", reads ? readsText(item)
		: "", item.pinned ? "pinned" : ""];
	return {
		label: `$(${icon}) ${plain(item.preview)}`,
		description: [categoryWords[item.category] ?? item.category, ...facts].filter(Boolean).join(" · "),
		...(match === "" ? {} : { detail: plain(match) }),
		picked: !item.pinned,
		found,
	};
}

function readsText(item: ContextItem): string {
	return item.category === "toolCall" ? "names the file" : "its call names the file";
}

/** plain removes the colours of terminals, breaks the syntax of icons, and shows invisible characters. */
function plain(text: string): string {
	return visible(text.replace(/\u001b?\[\d*(?:;\d+)*m/g, "")).replace(/\$\(/g, "$ (");
}

async function exclude(session: Session, threadId: string, revision: number, chosen: readonly Found[]): Promise<void> {
	const ids = chosen.map((f) => f.item.id);
	try {
		const before = await session.call("context/getUsage", { threadId });
		const done = await session.call("context/setInclusion",
			{ threadId, ids, included: false, expectedRevision: revision });
		const saved = before.usage.promptTokens - done.usage.promptTokens;
		const text = `${plural(done.changed, "item")} excluded: the next request is ${count(saved)} tokens smaller.`;
		const undo = await vscode.window.showInformationMessage(text, "Undo");
		if (undo) await session.call("context/undo", { threadId, expectedRevision: done.revision });
	} catch (error) {
		const stale = error instanceof CallError && error.kind === "staleRevision";
		void vscode.window.showErrorMessage(stale ? "The context has changed in the meantime. Run the command again." : (error as Error).message);
	}
}
