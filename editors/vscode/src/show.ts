// Files and changes that the page shows in the editor.

import * as vscode from "vscode";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { files, type FilePatch } from "../../../web/src/lib/patch.ts";
import { visible } from "../../../web/src/lib/format.ts";
import { findBelow, placeOf } from "./places.ts";
import { sidesOf } from "./sides.ts";
import type { Session } from "./session.ts";

/** scheme is the one of documents that have the sides of a change. */
export const scheme = "appserver-side";
/** maxSides is the number of documents that are kept. Tabs of earlier ones are empty when they are read again. */
const maxSides = 40;
/** maxFile is the size of a file in bytes above which its change is shown alone. */
const maxFile = 8 << 20;

/** Request is a message of the page that asks for a file or a change. */
export interface Request {
	type: string;
	threadId?: unknown;
	scope?: unknown;
	path?: unknown;
	line?: unknown;
}

/** Sides has the texts of the documents. */
export class Sides implements vscode.TextDocumentContentProvider {
	private readonly texts = new Map<string, string>();
	private last = 0;

	provideTextDocumentContent(uri: vscode.Uri): string {
		return this.texts.get(uri.toString()) ?? "";
	}

	/** add returns the address of a document with a text. The path selects the language. */
	add(path: string, text: string): vscode.Uri {
		const uri = vscode.Uri.from({ scheme, path: `/${path.replace(/^\/+/, "")}`, query: String(++this.last) });
		this.texts.set(uri.toString(), text);
		for (const key of [...this.texts.keys()].slice(0, -maxSides)) this.texts.delete(key);
		return uri;
	}
}

/** serve handles a message of the page. It shows a failure to the user. */
export async function serve(session: Session, sides: Sides, message: Request): Promise<void> {
	try {
		if (message.type === "appserver/openFile") await openFile(session, message);
		if (message.type === "appserver/openDiff") await openDiff(session, sides, message);
	} catch (error) {
		void vscode.window.showErrorMessage((error as Error).message);
	}
}

const workspaceFolders = (): string[] =>
	(vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === "file").map((f) => f.uri.fsPath);

/** foldersOf returns the folders whose files the page may show: the one of the thread, then those of the window. */
async function foldersOf(session: Session, threadId: string | null): Promise<string[]> {
	if (threadId === null) return workspaceFolders();
	const { thread } = await session.call("thread/read", { threadId, includeTurns: false });
	return [thread.cwd, ...workspaceFolders()];
}

async function openFile(session: Session, message: Request): Promise<void> {
	const place = placeOf(message);
	if (!place) return;
	const threadId = typeof message.threadId === "string" ? message.threadId : session.threads.current;
	const path = findBelow(place.path, await foldersOf(session, threadId));
	if (path === null) {
		throw new Error(`${visible(place.path)} is not a file of this window or of the folder of the thread.`);
	}
	if (statSync(path).isDirectory()) {
		await vscode.commands.executeCommand("revealInExplorer", vscode.Uri.file(path));
		return;
	}
	const at = new vscode.Position(Math.max(0, place.line - 1), 0);
	await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(path), {
		viewColumn: columnBeside(), ...(place.line > 0 ? { selection: new vscode.Range(at, at) } : {}),
	} satisfies vscode.TextDocumentShowOptions);
}

/** columnBeside returns the column of a text editor that is visible, so that the page stays visible in its own. */
function columnBeside(): vscode.ViewColumn {
	const page = vscode.window.tabGroups.activeTabGroup;
	if (!(page.activeTab?.input instanceof vscode.TabInputWebview)) return vscode.ViewColumn.Active;
	const other = vscode.window.tabGroups.all.find((g) => g !== page);
	return other?.viewColumn ?? vscode.ViewColumn.Beside;
}

async function openDiff(session: Session, sides: Sides, message: Request): Promise<void> {
	const { threadId, scope } = message;
	const place = placeOf(message);
	if (!place || typeof threadId !== "string" || typeof scope !== "string") return;
	const { diff, roots, summary } = await read(session, threadId, scope);
	const file = files(diff, summary).find((f) => f.path === place.path);
	if (!file) throw new Error(`The changes do not have ${visible(place.path)} any more.`);
	if (file.binary) throw new Error(`${visible(file.path)} is a binary file.`);
	if (file.text === "") throw new Error(`The diff is too long: it has no lines of ${visible(file.path)}.`);
	// A change lies below the top of the repository of the thread, which the server names.
	const real = findBelow(file.path, roots);
	const own = real !== null && statSync(real).isFile() && statSync(real).size <= maxFile ? real : null;
	await show(sides, file, own);
}

/** read returns the changes of a scope of the Changes tab. */
function read(session: Session, threadId: string, scope: string) {
	const [kind, id = "", other] = scope.split(":");
	if (kind === "since" || kind === "between") {
		return session.call("thread/checkpoint/diff", { threadId, turnId: id, toTurnId: other ?? null });
	}
	return session.call("thread/diff/read", kind === "turn" ? { threadId, turnId: id } : { threadId });
}

async function show(sides: Sides, file: FilePatch, path: string | null): Promise<void> {
	const { before, after, whole } = sidesOf(file.text, path === null ? null : readFileSync(path, "utf8"));
	const left = sides.add(file.oldPath ?? file.path, before);
	const right = whole ? vscode.Uri.file(path!) : sides.add(file.path, after);
	const title = `${visible(basename(file.path))} (${whole ? "change of the agent" : "changed lines of the agent"})`;
	await vscode.commands.executeCommand("vscode.diff", left, right, title, { viewColumn: columnBeside() });
}
