// The extension: it starts the server, shows the workbench's page in a tab and in a view of the side bar, and is a
// client of the server itself.

import * as vscode from "vscode";
import { homedir } from "node:os";
import { excludeSelection } from "./commands.ts";
import { htmlOf, Page } from "./page.ts";
import { Server } from "./server.ts";
import { Session } from "./session.ts";
import { gaugeOf } from "./threads.ts";
import type { ToEditor } from "../../../web/src/wire/transport.ts";

const viewType = "appserver.workbench";
const sideView = "appserver.side";
const threadKey = "appserver.thread";

let app: App | null = null;

/** activate starts the extension. The editor calls it once. */
export function activate(context: vscode.ExtensionContext): void {
	app = new App(context);
}

/** deactivate stops the server. The editor waits for it, but not for the subscriptions of the extension. */
export function deactivate(): Promise<void> | undefined {
	return app?.dispose();
}

class App {
	private readonly log: vscode.OutputChannel;
	private readonly gauge: vscode.StatusBarItem;
	private readonly server: Server;
	private session: Session | null = null;
	/** pages are the pages that are shown, in the tab and in the side bar. */
	private readonly pages = new Set<Page>();
	private panel: { tab: vscode.WebviewPanel; page: Page } | null = null;
	private side: { view: vscode.WebviewView; page: Page } | null = null;

	constructor(private readonly context: vscode.ExtensionContext) {
		this.log = vscode.window.createOutputChannel("appserver");
		this.gauge = vscode.window.createStatusBarItem("appserver.gauge", vscode.StatusBarAlignment.Right, 50);
		this.gauge.name = "Context of the agent";
		this.gauge.command = "appserver.showContext";
		this.showUsage(null);
		this.gauge.show();
		this.server = new Server(commandOf, {
			started: () => this.started(),
			line: (text) => this.receive(text),
			log: (text) => this.log.append(text),
			missing: (reason) => void this.missing(reason),
			ended: (reason, delayMs) => void this.ended(reason, delayMs),
		});
		const run = (name: string, action: () => unknown) =>
			vscode.commands.registerCommand(name, () => Promise.resolve(action())
				.catch((e: Error) => vscode.window.showErrorMessage(e.message)));
		context.subscriptions.push(
			this.log, this.gauge,
			run("appserver.open", () => this.openTab()),
			run("appserver.showContext", () => this.show(true)),
			run("appserver.excludeSelection", () => this.excludeSelection()),
			run("appserver.newThread", () => this.newThread()),
			run("appserver.restart", () => this.restart()),
			run("appserver.showLog", () => this.log.show()),
			vscode.window.registerWebviewPanelSerializer(viewType, {
				deserializeWebviewPanel: async (tab) => {
					this.adopt(tab);
				},
			}),
			vscode.window.registerWebviewViewProvider(sideView, { resolveWebviewView: (view) => this.fill(view) },
				{ webviewOptions: { retainContextWhenHidden: true } }),
			vscode.workspace.onDidChangeConfiguration((e) => {
				if (e.affectsConfiguration("appserver") && (this.session || this.pages.size > 0)) void this.restart();
			}),
		);
	}

	async dispose(): Promise<void> {
		this.session?.close("the editor ends");
		await this.server.stop();
	}

	/** open returns the page of the side bar if only that is visible, and else shows the tab. */
	private open(): Page {
		if (this.side?.view.visible && !this.panel) return this.side.page;
		return this.openTab();
	}

	private openTab(): Page {
		if (this.panel) {
			this.panel.tab.reveal();
			return this.panel.page;
		}
		return this.adopt(vscode.window.createWebviewPanel(viewType, "Workbench", vscode.ViewColumn.Active,
			{ retainContextWhenHidden: true }));
	}

	/** adopt shows the page in a tab. retainContextWhenHidden keeps the page while the tab is in the background. */
	private adopt(tab: vscode.WebviewPanel): Page {
		this.panel?.tab.dispose();
		tab.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "media", "icon.svg");
		const page = this.host(tab.webview);
		tab.onDidDispose(() => {
			this.drop(page);
			if (this.panel?.tab === tab) this.panel = null;
		});
		this.panel = { tab, page };
		return page;
	}

	/** fill shows the page in the side bar. */
	private fill(view: vscode.WebviewView): void {
		const page = this.host(view.webview);
		view.onDidDispose(() => {
			this.drop(page);
			if (this.side?.view === view) this.side = null;
		});
		this.side = { view, page };
	}

	/** host makes a webview a page, and connects it with the server. */
	private host(webview: vscode.Webview): Page {
		const folder = vscode.Uri.joinPath(this.context.extensionUri, "page");
		webview.options = { enableScripts: true, localResourceRoots: [folder] };
		const page = new Page(webview);
		webview.onDidReceiveMessage((message: ToEditor) => page.receive(message));
		const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
		webview.html = htmlOf(folder.fsPath, uri, webview.cspSource);
		this.pages.add(page);
		this.session?.connect(page);
		this.server.start();
		return page;
	}

	private drop(page: Page): void {
		page.dispose();
		this.pages.delete(page);
	}

	/** show opens the page with the current thread. */
	private async show(context: boolean): Promise<void> {
		const page = this.open();
		const session = await this.connected();
		page.show(await session.latest(workFolder()), context);
	}

	private async excludeSelection(): Promise<void> {
		await excludeSelection(await this.connected(), workFolder());
	}

	private async newThread(): Promise<void> {
		const session = await this.connected();
		const { data, defaultProviderId } = await session.call("modelProvider/list", {});
		if (data.find((p) => p.id === defaultProviderId)?.ready === false) return this.open().setup();
		const { thread } = await session.call("thread/start", { cwd: workFolder() ?? null });
		this.open().show(thread.id, false);
	}

	/** waiting are the commands that wait for a server. */
	private waiting: { resolve(s: Session): void; reject(e: Error): void }[] = [];

	/** connected starts the server unless it runs, and returns its session. */
	private connected(): Promise<Session> {
		if (this.session) return Promise.resolve(this.session);
		const session = new Promise<Session>((resolve, reject) => this.waiting.push({ resolve, reject }));
		this.server.start();
		return session;
	}

	private started(): void {
		const { version } = this.context.extension.packageJSON as { version: string };
		const session = new Session((text) => this.server.send(text), {
			current: (id) => void this.context.workspaceState.update(threadKey, id),
			usage: (usage) => this.showUsage(usage),
			failed: (reason) => void vscode.window.showErrorMessage(`appserver rejects the extension: ${reason}`),
			ask: async (text, titles) => vscode.window.showWarningMessage(text, ...titles),
			show: (threadId) => this.open().show(threadId, false),
			late: () => void vscode.window.showInformationMessage("This question was answered already, or has ended."),
		}, this.context.workspaceState.get<string>(threadKey) ?? null, version);
		this.session = session;
		for (const page of this.pages) session.connect(page);
		for (const w of this.waiting.splice(0)) w.resolve(session);
	}

	private receive(text: string): void {
		try {
			this.session?.receive(text);
		} catch (error) {
			this.log.appendLine(`cannot handle a message of the server: ${(error as Error).message}`);
		}
	}

	private lost(reason: string): void {
		this.session?.close(reason);
		this.session = null;
		for (const page of this.pages) page.disconnected();
		for (const w of this.waiting.splice(0)) w.reject(new Error(reason));
		this.showUsage(null);
	}

	private async missing(reason: string): Promise<void> {
		this.waiting.length = 0; // the message below is their answer
		this.lost(reason);
		const path = commandOf().path;
		const chosen = await vscode.window.showErrorMessage(
			`The program ${path} cannot be started: ${reason}. Install appserver, or set its path.`,
			"How to Install", "Open Settings", "Try Again");
		if (chosen === "How to Install") {
			const readme = vscode.Uri.joinPath(this.context.extensionUri, "README.md");
			await vscode.commands.executeCommand("markdown.showPreview", readme);
		}
		if (chosen === "Open Settings") await openSettings("appserver.path");
		if (chosen === "Try Again") this.server.start();
	}

	private async ended(reason: string, delayMs: number): Promise<void> {
		this.log.appendLine(reason);
		this.lost(reason);
		const chosen = await vscode.window.showErrorMessage(
			`${reason}. It starts again in ${(delayMs / 1000).toLocaleString("en")} s.`, "Start Now", "Show Log");
		if (chosen === "Start Now") this.server.start();
		if (chosen === "Show Log") this.log.show();
	}

	private async restart(): Promise<void> {
		this.lost("the server starts again");
		await this.server.stop();
		this.server.start();
	}

	private showUsage(usage: Parameters<typeof gaugeOf>[0]): void {
		const { text, tooltip, high } = gaugeOf(usage);
		this.gauge.text = text;
		this.gauge.tooltip = tooltip;
		this.gauge.backgroundColor = high ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
	}
}

/** openSettings shows a setting. The settings of a remote machine have a page of their own. */
async function openSettings(query: string): Promise<void> {
	const page = vscode.env.remoteName ? "workbench.action.openRemoteSettings" : "workbench.action.openSettings";
	await vscode.commands.executeCommand(page, { query });
}

/** workFolder returns the first folder of the window, or undefined. */
function workFolder(): string | undefined {
	return vscode.workspace.workspaceFolders?.find((f) => f.uri.scheme === "file")?.uri.fsPath;
}

/** commandOf returns the command line of the settings. A path may begin with ~/. */
function commandOf() {
	const settings = vscode.workspace.getConfiguration("appserver");
	const path = settings.get<string>("path")?.trim() || "appserver";
	return {
		path: path.startsWith("~/") ? homedir() + path.slice(1) : path,
		args: settings.get<string[]>("args") ?? [],
		env: settings.get<Record<string, string>>("env") ?? {},
		cwd: workFolder(),
	};
}
