// The workbench's page in a webview.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FromEditor, ToEditor } from "../../../web/src/wire/transport.ts";
import type { Mux, Port } from "./mux.ts";

/** Webview is the part of vscode.Webview that a page needs. */
export interface Webview {
	html: string;
	readonly cspSource: string;
	postMessage(message: FromEditor): Thenable<boolean>;
}

/** htmlOf returns the page of folder, the built workbench. uri returns the address of a file there. */
export function htmlOf(folder: string, uri: (name: string) => string, cspSource: string): string {
	const nonce = randomBytes(18).toString("base64");
	const policy = [
		"default-src 'none'", `script-src 'nonce-${nonce}'`, `style-src ${cspSource}`, "img-src data: blob:",
		"base-uri 'none'", "form-action 'none'",
	].join("; ");
	return readFileSync(join(folder, "index.html"), "utf8")
		.replace("<head>", `<head>\n<meta http-equiv="Content-Security-Policy" content="${policy}">`)
		.replace(/(href|src)="\/([^"]+)"/g, (_, attribute: string, name: string) => `${attribute}="${uri(name)}"`)
		.replace("</head>", `<link rel="stylesheet" href="${uri("theme.css")}">\n</head>`)
		.replace("<script ", `<script nonce="${nonce}" `);
}

/** Page connects one webview with the server that runs. */
export class Page {
	private port: Port | null = null;
	private mux: Mux | null = null;
	/** waiting is the link that the page opened while no server ran. */
	private waiting = 0;
	private link = 0;
	/** wanted is sent when the page has connected. */
	private wanted: FromEditor[] = [];

	constructor(private readonly webview: Webview) {}

	/** connected takes a server that has started. */
	connected(mux: Mux): void {
		this.mux = mux;
		if (this.waiting > 0) this.open(this.waiting);
	}

	/** disconnected is called when the server has ended. */
	disconnected(): void {
		const link = this.link;
		this.drop();
		this.mux = null;
		if (link > 0) this.post({ kind: "closed", link });
	}

	/** folder names the folder of the window. */
	folder(path: string): void {
		this.want({ kind: "folder", path });
	}

	/** show opens a thread. With context it shows its context as well. */
	show(threadId: string | null, context: boolean): void {
		this.want({ kind: "show", hash: threadId === null ? "" : `#/thread/${threadId}`, context });
	}

	/** setup leaves the thread, so that the page offers the ways to a model if there is none. */
	setup(): void {
		this.want({ kind: "show", hash: "#/setup", context: false });
	}

	/** addDraft adds a text to the message of a thread, and opens the thread. It sends nothing. */
	addDraft(threadId: string, text: string): void {
		this.want({ kind: "draft", threadId, text });
		this.show(threadId, false);
	}

	private want(message: FromEditor): void {
		this.wanted = this.wanted.filter((w) => w.kind === "draft" || w.kind !== message.kind);
		this.wanted.push(message);
		if (this.link > 0) this.postWanted();
	}

	/** receive takes a message of the page. */
	receive(message: ToEditor): void {
		if (message.kind === "open") {
			this.drop();
			this.waiting = message.link;
			if (this.mux) this.open(message.link);
		} else if (message.link === this.link) {
			if (message.kind === "message") this.port?.receive(message.text);
			else this.drop();
		}
	}

	dispose(): void {
		this.drop();
	}

	private open(link: number): void {
		this.waiting = 0;
		this.link = link;
		this.port = this.mux!.attach((text) => this.post({ kind: "message", link, text }));
		this.post({ kind: "opened", link });
		this.postWanted();
	}

	private drop(): void {
		this.port?.detach();
		this.port = null;
		this.link = 0;
		this.waiting = 0;
	}

	private postWanted(): void {
		for (const message of this.wanted.splice(0)) this.post(message);
	}

	private post(message: FromEditor): void {
		void this.webview.postMessage(message);
	}
}
