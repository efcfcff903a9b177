// A JSON-RPC connection that reconnects.
//
// The link is always read: the server disconnects clients that do not read. Messages wait in a
// queue and are handled in slices of a frame, so that a burst does not block the page.

import { signal } from "@preact/signals";
import type { Link, Transport } from "./transport.ts";
import type { Methods, RequestId, ServerNotification, ServerRequest } from "./types.ts";

/** sliceMs is the longest time that one frame handles messages. */
const sliceMs = 8;
const minDelayMs = 250;
const maxDelayMs = 8000;

/** ConnectionState is "waiting" before the next attempt to connect, and "rejected" if there is none. */
export type ConnectionState = "connecting" | "open" | "waiting" | "rejected";

/** CallError is an error response of the server. */
export class CallError extends Error {
	constructor(
		readonly code: number,
		message: string,
		readonly kind: string,
		readonly data: Record<string, unknown>,
	) {
		super(message);
	}
}

interface Pending {
	resolve(result: unknown): void;
	reject(error: Error): void;
}

type Message = {
	id?: RequestId;
	method?: string;
	params?: unknown;
	result?: unknown;
	error?: { code: number; message: string; data?: { kind?: string } };
};

/** Handlers receive the messages of the server in order. */
export interface Handlers {
	/**
	 * opened introduces the page on each new link. The state is "open" when it is fulfilled; until then, requests are sent
	 * and notifications come. If it rejects, the link is closed.
	 */
	opened(): Promise<void>;
	notification(n: ServerNotification): void;
	request(r: ServerRequest): void;
}

type Parameterless = { [M in keyof Methods]: undefined extends Methods[M]["params"] ? M : never }[keyof Methods];

/** Connection sends requests and passes on what the server sends. */
export class Connection {
	readonly state = signal<ConnectionState>("connecting");
	/** retryAt is the time of the next attempt in milliseconds, while the state is "waiting". */
	readonly retryAt = signal(0);
	private link: Link | null = null;
	private nextId = 1;
	private pending = new Map<RequestId, Pending>();
	private queue: string[] = [];
	private scheduled = false;
	/** drained is the time at which messages were last handled. It is 0 if a response was among them. */
	private drained = 0;
	private delay = minDelayMs;
	private timer = 0;
	private everOpen = false;
	/** linked is set while the current link is open, also before the state is. */
	private linked = false;

	private readonly watchers = new Set<(n: ServerNotification) => void>();

	constructor(private readonly transport: Transport, private readonly handlers: Handlers) {}

	connect(): void {
		clearTimeout(this.timer);
		this.state.value = "connecting";
		const link: Link = this.transport.open({
			opened: () => void this.open(link),
			message: (text) => {
				this.queue.push(text);
				this.schedule();
			},
			closed: () => this.closed(link),
		});
		this.link = link;
	}

	private async open(link: Link): Promise<void> {
		this.everOpen = true;
		this.linked = true;
		try {
			await this.handlers.opened();
			if (this.link !== link) return;
			this.delay = minDelayMs;
			this.state.value = "open";
		} catch {
			link.close();
		}
	}

	private closed(link: Link): void {
		if (this.link !== link) return;
		this.link = null;
		this.queue = [];
		const lost = new CallError(0, "the connection to the server was lost", "disconnected", {});
		for (const p of this.pending.values()) p.reject(lost);
		this.pending.clear();
		const { linked } = this;
		this.linked = false;
		if (!this.everOpen) {
			this.state.value = "rejected";
			return;
		}
		if (!linked) void this.probe();
		this.state.value = "waiting";
		this.retryAt.value = Date.now() + this.delay;
		this.timer = window.setTimeout(() => this.connect(), this.delay);
		this.delay = Math.min(this.delay * 2, maxDelayMs);
	}

	/** probe ends the attempts if the server is there and does not know the session. */
	private async probe(): Promise<void> {
		const refused = await this.transport.refused();
		if (!refused || this.state.value !== "waiting") return;
		clearTimeout(this.timer);
		this.state.value = "rejected";
	}

	/** retry connects now instead of at retryAt. */
	retry(): void {
		if (this.state.value !== "waiting" && this.state.value !== "rejected") return;
		this.everOpen = true;
		this.connect();
	}

	/** call sends a request and returns its result. It rejects with a CallError. */
	call<M extends Parameterless>(method: M): Promise<Methods[M]["result"]>;
	call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]>;
	call<M extends keyof Methods>(method: M, params?: Methods[M]["params"]): Promise<Methods[M]["result"]> {
		return this.request(method, params) as Promise<Methods[M]["result"]>;
	}

	private request(method: string, params: unknown): Promise<unknown> {
		const id = this.nextId++;
		return new Promise((resolve, reject) => {
			this.pending.set(id, { resolve, reject });
			this.send({ id, method, params });
		});
	}

	/** answer responds to a request of the server. */
	answer(id: RequestId, result: unknown): void {
		this.send({ id, result });
	}

	/** watch calls a function with each notification, after the handlers. It returns a function that ends this. */
	readonly watch = (run: (n: ServerNotification) => void): (() => void) => {
		this.watchers.add(run);
		return () => this.watchers.delete(run);
	};

	private notified(n: ServerNotification): void {
		this.handlers.notification(n);
		for (const run of this.watchers) run(n);
	}

	/** notify sends a notification. */
	notify(method: string): void {
		this.send({ method });
	}

	private send(message: object): void {
		if (this.link && this.linked) {
			this.link.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
			return;
		}
		const id = (message as Message).id;
		if (id !== undefined) {
			this.pending.get(id)?.reject(new CallError(0, "the page is not connected to the server", "disconnected", {}));
			this.pending.delete(id);
		}
	}

	private schedule(): void {
		if (this.scheduled) return;
		this.scheduled = true;
		if (document.hidden || this.pending.size > 0 || performance.now() - this.drained > sliceMs) {
			queueMicrotask(() => this.drain()); // a response, what follows it, or a single message should not wait
		} else {
			requestAnimationFrame(() => this.drain());
		}
	}

	private drain(): void {
		this.scheduled = false;
		const end = performance.now() + sliceMs;
		let handled = 0;
		const waiting = this.pending.size;
		while (handled < this.queue.length && (document.hidden || performance.now() < end)) {
			this.handle(JSON.parse(this.queue[handled++]!) as Message);
		}
		this.queue.splice(0, handled);
		const answered = this.pending.size < waiting;
		this.drained = answered ? 0 : performance.now();
		if (this.queue.length > 0) {
			this.scheduled = true;
			requestAnimationFrame(() => this.drain());
		}
	}

	private handle(m: Message): void {
		if (m.method !== undefined) {
			if (m.id === undefined) this.notified(m as unknown as ServerNotification);
			else this.handlers.request(m as unknown as ServerRequest);
			return;
		}
		if (m.id === undefined) return;
		const p = this.pending.get(m.id);
		this.pending.delete(m.id);
		if (!p) return;
		if (m.error) {
			const { kind = "", ...data } = m.error.data ?? {};
			p.reject(new CallError(m.error.code, m.error.message, kind, data));
		} else {
			p.resolve(m.result);
		}
	}
}
