// Several clients on one connection to the server.
//
// The server sees one client. Requests of the clients get ids of their own on the wire. Notifications and requests of
// the server go to all clients; the first answer to a request is sent, and later ones are dropped.

import type { RequestId } from "../../../schema/ts/index.ts";

/** Message is any message of either side. */
export interface Message {
	id?: RequestId;
	method?: string;
	params?: unknown;
	result?: unknown;
	error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** Client receives the messages of the server for one client, as text and parsed. */
export type Client = (text: string, message: Message) => void;

interface Call {
	port: Port;
	id: RequestId;
	method: string;
	threadId: string | null;
}

/** Watcher is notified when a client begins to follow a thread, or ends it. */
export interface Watcher {
	followed(port: Port, threadId: string): void;
	unfollowed(port: Port, threadId: string): void;
}

const subscribing = new Set(["thread/start", "thread/resume", "thread/fork"]);

/** Mux is one connection to a server, from its start to its end. */
export class Mux {
	private nextId = 1;
	private readonly ports = new Set<Port>();
	private readonly calls = new Map<RequestId, Call>();
	/** open has the requests of the server that nobody has answered, in the order in which they came. */
	private readonly open = new Map<RequestId, Message>();
	private initialized: { waiting: Call[]; result?: unknown } | null = null;

	constructor(private readonly send: (text: string) => void, private readonly watcher: Watcher) {}

	/** attach adds a client. Its first request is initialize, as on a connection of its own. */
	attach(client: Client): Port {
		const port = new Port(this, client);
		this.ports.add(port);
		return port;
	}

	/** isOpen reports whether a request of the server still waits for an answer. */
	isOpen(id: RequestId): boolean {
		return this.open.has(id);
	}

	/** isFollowed reports whether a client follows a thread, other than the one that is left out. */
	isFollowed(threadId: string, except?: Port): boolean {
		return [...this.ports].some((p) => p !== except && p.follows.has(threadId));
	}

	/** receive handles a line of the server. */
	receive(text: string): void {
		const message = JSON.parse(text) as Message;
		if (message.method === undefined) {
			this.respond(message);
			return;
		}
		if (message.id !== undefined) this.open.set(message.id, message);
		if (message.method === "serverRequest/resolved") {
			this.open.delete((message.params as { requestId: RequestId }).requestId);
		}
		for (const port of [...this.ports]) port.deliver(text, message);
	}

	/** detach removes a client. Its calls go on, and nobody receives their results. */
	detach(port: Port): void {
		this.ports.delete(port);
		for (const id of [...port.follows]) this.unfollow(port, id);
	}

	/** take handles a message of a client. */
	take(port: Port, message: Message): void {
		if (!this.ports.has(port)) return;
		if (message.method === undefined) this.answer(message);
		else if (message.id === undefined) this.notify(message);
		else this.request(port, message.id, message.method, message.params);
	}

	follow(port: Port, threadId: string): void {
		if (port.follows.has(threadId) || !this.ports.has(port)) return;
		port.follows.add(threadId);
		this.watcher.followed(port, threadId);
	}

	private unfollow(port: Port, threadId: string): void {
		if (port.follows.delete(threadId)) this.watcher.unfollowed(port, threadId);
	}

	private answer(message: Message): void {
		// The server asks again if it gets an answer to no open request, so a late answer must not reach it.
		if (message.id === undefined || !this.open.delete(message.id)) return;
		this.write(message);
	}

	private notify(message: Message): void {
		if (message.method !== "initialized") this.write(message); // the first client sends it for all
	}

	private request(port: Port, id: RequestId, method: string, params: unknown): void {
		const threadId = (params as { threadId?: string } | null | undefined)?.threadId ?? null;
		const call: Call = { port, id, method, threadId };
		if (method === "initialize" && this.initialized) {
			if ("result" in this.initialized) this.welcome(call);
			else this.initialized.waiting.push(call);
			return;
		}
		if (method === "initialize") this.initialized = { waiting: [] };
		if (method === "thread/unsubscribe" && threadId !== null) {
			const shared = this.isFollowed(threadId, port);
			this.unfollow(port, threadId); // the watcher can end what it follows itself
			if (shared) {
				port.deliverResult(id, { status: "unsubscribed" });
				return;
			}
		}
		const wireId = this.nextId++;
		this.calls.set(wireId, call);
		this.write({ id: wireId, method, params });
	}

	private respond(message: Message): void {
		const call = message.id === undefined ? undefined : this.calls.get(message.id);
		if (!call) return;
		this.calls.delete(message.id!);
		if (call.method === "initialize") {
			this.finishInitialize(call, message);
			return;
		}
		if (!message.error && subscribing.has(call.method)) {
			const thread = (message.result as { thread?: { id?: string } }).thread?.id ?? call.threadId;
			if (thread) this.follow(call.port, thread);
		}
		this.pass(call, message);
	}

	private finishInitialize(call: Call, message: Message): void {
		const waiting = this.initialized?.waiting ?? [];
		if (message.error) {
			this.initialized = null;
			for (const c of [call, ...waiting]) this.pass(c, message);
			return;
		}
		this.initialized = { waiting: [], result: message.result };
		this.write({ method: "initialized" });
		for (const c of [call, ...waiting]) this.welcome(c);
	}

	/** welcome answers initialize, and repeats the open requests for a client that came later. */
	private welcome(call: Call): void {
		call.port.deliverResult(call.id, this.initialized!.result);
		for (const message of this.open.values()) call.port.deliver(JSON.stringify(message), message);
	}

	private pass(call: Call, message: Message): void {
		const own = { ...message, id: call.id };
		if (this.ports.has(call.port)) call.port.deliver(JSON.stringify(own), own);
	}

	private write(message: Message): void {
		this.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
	}
}

/** Port is the place of one client. */
export class Port {
	/** follows are the threads that the client is subscribed to. */
	readonly follows = new Set<string>();

	constructor(private readonly mux: Mux, private readonly client: Client) {}

	/** receive takes a message of the client as text. */
	receive(text: string): void {
		this.mux.take(this, JSON.parse(text) as Message);
	}

	/** send takes a message of the client. */
	send(message: Message): void {
		this.mux.take(this, message);
	}

	/** follow keeps a thread that another client follows: its unsubscribe does not reach the server. */
	follow(threadId: string): void {
		this.mux.follow(this, threadId);
	}

	detach(): void {
		this.mux.detach(this);
	}

	deliver(text: string, message: Message): void {
		this.client(text, message);
	}

	deliverResult(id: RequestId, result: unknown): void {
		const message = { jsonrpc: "2.0", id, result };
		this.client(JSON.stringify(message), message);
	}
}
