// The settings of the extension.

import * as vscode from "vscode";
import { homedir } from "node:os";
import { findProgram, isProgram } from "./program.ts";
import type { Command } from "./server.ts";
import { sharedArgs } from "./shared.ts";

/** openSettings shows a setting. The settings of a remote machine have a page of their own. */
export async function openSettings(query: string): Promise<void> {
	const page = vscode.env.remoteName ? "workbench.action.openRemoteSettings" : "workbench.action.openSettings";
	await vscode.commands.executeCommand(page, { query });
}

/** workFolder returns the first folder of the window, or undefined. */
export function workFolder(): string | undefined {
	return vscode.workspace.workspaceFolders?.find((f) => f.uri.scheme === "file")?.uri.fsPath;
}

/** commandOf returns the command line of the settings. With replace it ends a shared server first. */
export function commandOf(extension: string, replace: boolean): Command {
	const settings = vscode.workspace.getConfiguration("appserver");
	const env = settings.get<Record<string, string>>("env") ?? {};
	const path = findProgram(settings.get<string>("path") ?? "", {
		platform: process.platform, home: homedir(), env: { ...process.env, ...env }, isProgram, extension,
	});
	const shared = settings.get<boolean>("shareServer") ?? true;
	return {
		path, env, cwd: workFolder(),
		args: [...(settings.get<string[]>("args") ?? []), ...(shared ? sharedArgs(env, replace) : [])],
	};
}
