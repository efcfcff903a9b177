// The extension: it starts the server, shows the workbench's page in a tab and in a view of the side bar, and is a
// client of the server itself.

import * as vscode from "vscode";
import { diagnostics, files, selection, type Reference } from "./add.ts";
import { excludeSelection } from "./commands.ts";
import { htmlOf, Page } from "./page.ts";
import { Server, type Command } from "./server.ts";
import { Session } from "./session.ts";
import { commandOf, openSettings, workFolder } from "./settings.ts";
import { scheme, serve, Sides, type Request } from "./show.ts";
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
	private readonly sides = new Sides();
	/** replace is set if the next start ends the shared server first. */
	private replace = false;
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
		this.server = new Server(() => this.command(), {
			started: () => this.started(),
			line: (text) => this.receive(text),
			log: (text) => this.log.append(text),
			missing: (reason) => void this.missing(reason),
			ended: (reason, delayMs) => void this.ended(reason, delayMs),
		});
		const run = (name: string, action: (uri?: vscode.Uri, selected?: readonly vscode.Uri[]) => unknown) =>
			vscode.commands.registerCommand(name, async (uri?: vscode.Uri, selected?: readonly vscode.Uri[]) => {
				try {
					await action(uri, selected);
				} catch (error) {
					void vscode.window.showErrorMessage((error as Error).message);
				}
			});
		context.subscriptions.push(
			this.log, this.gauge,
			run("appserver.open", () => this.openTab()),
			run("appserver.showContext", () => this.show(true)),
			run("appserver.excludeSelection", () => this.excludeSelection()),
			run("appserver.addSelection", () => this.add(selection)),
			run("appserver.addFile", (uri, selected) => this.add(files(uri, selected))),
			run("appserver.addDiagnostics", () => this.add(diagnostics)),
			run("appserver.newThread", () => this.newThread()),
			run("appserver.restart", () => this.restart(true)),
			run("appserver.showLog", () => this.log.show()),
			vscode.workspace.registerTextDocumentContentProvider(scheme, this.sides),
			vscode.window.registerWebviewPanelSerializer(viewType, {
				deserializeWebviewPanel: async (tab) => {
					this.adopt(tab);
				},
			}),
			vscode.window.registerWebviewViewProvider(sideView, { resolveWebviewView: (view) => this.fill(view) },
				{ webviewOptions: { retainContextWhenHidden: true } }),
			vscode.workspace.onDidChangeConfiguration((e) => {
				if (e.affectsConfiguration("appserver") && (this.session || this.pages.size > 0)) void this.restart(false);
			}),
		);
	}

	async dispose(): Promise<void> {
		this.session?.close("the editor ends");
		await this.server.stop();
	}

	/** open returns the page of the side bar if only that is visible, and else shows the tab. */
	private open(column = vscode.ViewColumn.Active): Page {
		if (this.side?.view.visible && !this.panel) return this.side.page;
		return this.openTab(column);
	}

	/** openTab shows the tab. A new one is in a column. */
	private openTab(column = vscode.ViewColumn.Active): Page {
		if (this.panel) {
			this.panel.tab.reveal();
			return this.panel.page;
		}
		return this.adopt(vscode.window.createWebviewPanel(viewType, "Workbench", column,
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
		webview.onDidReceiveMessage((message: ToEditor | Request) => {
			if ("kind" in message) page.receive(message);
			else if (this.session) void serve(this.session, this.sides, message);
		});
		page.folder(workFolder() ?? "");
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
		const started = await this.startThread(await this.connected());
		if (started !== null) this.open().show(started, false);
	}

	/** startThread starts a thread. Without a model it opens the ways to one, and returns null. */
	private async startThread(session: Session): Promise<string | null> {
		const { data, defaultProviderId } = await session.call("modelProvider/list", {});
		if (data.find((p) => p.id === defaultProviderId)?.ready === false) {
			this.open().setup();
			return null;
		}
		const { thread } = await session.call("thread/start", { cwd: workFolder() ?? null });
		return thread.id;
	}

	/** add adds a reference to the message of the thread that the page shows, of the newest one, or of a new one. */
	private async add(reference: Reference): Promise<void> {
		const editor = vscode.window.activeTextEditor;
		const session = await this.connected();
		const threadId = await session.latest(workFolder()) ?? await this.startThread(session);
		if (threadId === null) return;
		const { thread } = await session.call("thread/read", { threadId, includeTurns: false });
		if (editor && editor !== vscode.window.activeTextEditor) return; // the user has gone on
		const text = reference(thread.cwd);
		if (text !== null) this.open(editor ? vscode.ViewColumn.Beside : undefined).addDraft(threadId, text);
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
		const { path } = this.command();
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

	/** restart starts the server again. With shared it also ends the server that windows share. */
	private async restart(shared: boolean): Promise<void> {
		this.lost("the server starts again");
		await this.server.stop();
		this.replace = shared;
		this.server.start();
		this.replace = false;
	}

	private command(): Command {
		return commandOf(this.context.extensionUri.fsPath, this.replace);
	}

	private showUsage(usage: Parameters<typeof gaugeOf>[0]): void {
		const { text, tooltip, high } = gaugeOf(usage);
		this.gauge.text = text;
		this.gauge.tooltip = tooltip;
		this.gauge.backgroundColor = high ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
	}
}
