// The ways of the page to the server: a WebSocket, or messages to the extension of an editor that shows the page.

import { isServer, openSession, renewSession, token } from "./session.ts";

/** Link is one attempt to reach the server, and the connection that comes of it. */
export interface Link {
	send(text: string): void;
	close(): void;
}

/** LinkEvents are called in this order: opened at most once, message while it is open, and closed once. */
export interface LinkEvents {
	opened(): void;
	message(text: string): void;
	closed(): void;
}

/** Transport opens links to one server. */
export interface Transport {
	/** open starts a link. The events come later. */
	open(events: LinkEvents): Link;
	/** refused reports whether the server is there and does not accept this client, also not by the key of the browser. */
	refused(): Promise<boolean>;
}

/** inEditor reports whether an editor shows the page, and connects it. */
export const inEditor = (): boolean => typeof acquireVsCodeApi === "function";

/**
 * openTransport returns the transport of this page. It rejects with a SessionError if the page has no session. If the
 * server remembers this browser, it calls remembered.
 */
export async function openTransport(remembered: () => void): Promise<Transport> {
	if (typeof acquireVsCodeApi === "function") return new Webview(acquireVsCodeApi());
	await openSession(remembered);
	return new Socket();
}

class Socket implements Transport {
	open(events: LinkEvents): Link {
		let socket: WebSocket | null = null;
		let wanted = true;
		const connect = (): void => {
			const scheme = location.protocol === "https:" ? "wss" : "ws";
			socket = new WebSocket(`${scheme}://${location.host}/ws`, ["appserver.v1", `bearer.${token()}`]);
			socket.onopen = () => events.opened();
			socket.onmessage = (event) => events.message(event.data as string);
			socket.onclose = () => events.closed();
		};
		void isServer().then((is) => (is && wanted ? connect() : events.closed()));
		return {
			send: (text) => {
				if (socket?.readyState === WebSocket.OPEN) socket.send(text); // otherwise closed follows
			},
			close: () => {
				wanted = false;
				socket?.close();
			},
		};
	}

	refused(): Promise<boolean> {
		return renewSession();
	}
}

/** Editor is the interface that Visual Studio Code gives to a page. */
interface Editor {
	postMessage(message: unknown): void;
	getState(): unknown;
	setState(state: unknown): void;
}

declare const acquireVsCodeApi: (() => Editor) | undefined;

/** ToEditor is a message of the page to the extension. link numbers the attempts. */
export type ToEditor =
	| { kind: "open" | "close"; link: number }
	| { kind: "message"; link: number; text: string };

/**
 * FromEditor is a message of the extension. "show" opens a thread, unless hash is empty, and the panel with the
 * context.
 */
export type FromEditor =
	| { kind: "opened" | "closed"; link: number }
	| { kind: "message"; link: number; text: string }
	| { kind: "show"; hash: string; context: boolean };

/** showContextEvent is the event of the window by which the extension asks for the panel with the context. */
export const showContextEvent = "showcontext";

/** OpenFile asks the editor to open a file. The path is absolute; line 0 is none. */
export interface OpenFile {
	type: "appserver/openFile";
	path: string;
	line: number;
}

/** editor has the function that sends a request to the editor that shows the page. */
export const editor = { request: (_request: OpenFile): void => undefined };

class Webview implements Transport {
	private last = 0;
	private events: LinkEvents | null = null;
	private keysKept = false;

	constructor(private readonly editor: Editor) {
		requestsTo(editor);
		// The editor keeps the state of a page over its restarts, and the address has the thread.
		const saved = editor.getState() as { hash?: string } | undefined;
		if (location.hash === "" && saved?.hash) location.hash = saved.hash;
		window.addEventListener("hashchange", () => editor.setState({ hash: location.hash }));
		window.addEventListener("message", (event) => this.receive(event.data as FromEditor));
	}

	open(events: LinkEvents): Link {
		const link = ++this.last;
		this.events = events;
		this.post({ kind: "open", link });
		return {
			send: (text) => this.post({ kind: "message", link, text }),
			close: () => {
				this.post({ kind: "close", link });
				if (link === this.last) this.end();
			},
		};
	}

	/** refused is false, because the extension decides when the server starts again. */
	refused(): Promise<boolean> {
		return Promise.resolve(false);
	}

	private post(message: ToEditor): void {
		this.editor.postMessage(message);
	}

	private end(): void {
		const events = this.events;
		this.events = null;
		events?.closed();
	}

	private receive(message: FromEditor): void {
		if (message.kind === "show") {
			if (message.hash !== "") location.hash = message.hash;
			if (message.context) window.dispatchEvent(new Event(showContextEvent));
			return;
		}
		if (message.link !== this.last) return;
		if (message.kind === "message") this.events?.message(message.text);
		if (message.kind === "opened") {
			if (!this.keysKept) keepKeys();
			this.keysKept = true;
			this.events?.opened();
		}
		if (message.kind === "closed") this.end();
	}
}

/** requestsTo sends the requests of the page to an editor. */
function requestsTo(to: Editor): void {
	editor.request = (request) => to.postMessage(request);
}

/** keepKeys keeps the keys that the page uses from the editor, which has commands for some of them. */
function keepKeys(): void {
	document.addEventListener("keydown", (event) => {
		if (event.defaultPrevented) event.stopPropagation();
	});
}
