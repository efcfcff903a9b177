// The extension as a client of the server.

import type { Methods, RequestId, ServerNotification, ServerRequest } from "../../../schema/ts/index.ts";
import type { Message, Mux, Port } from "./mux.ts";

/** CallError is an error response of the server. */
export class CallError extends Error {
	constructor(readonly code: number, message: string, readonly kind: string) {
		super(message);
	}
}

/** Handlers receive the messages of the server in order. */
export interface Handlers {
	notification(n: ServerNotification): void;
	request(r: ServerRequest): void;
}

/** Call sends requests. It is the part of Rpc that reads and edits threads. */
export type Call = <M extends keyof Methods>(method: M, params: Methods[M]["params"]) => Promise<Methods[M]["result"]>;

/** Rpc is the extension as a client of the server. */
export class Rpc {
	readonly port: Port;
	private nextId = 1;
	/** closed is the reason of the end, or empty. */
	private closed = "";
	private readonly pending = new Map<RequestId, { resolve(result: unknown): void; reject(error: Error): void }>();

	constructor(mux: Mux, private readonly handlers: Handlers) {
		this.port = mux.attach((_, message) => this.receive(message));
	}

	readonly call: Call = <M extends keyof Methods>(method: M, params: Methods[M]["params"]) => {
		if (this.closed !== "") return Promise.reject(new CallError(0, this.closed, "disconnected"));
		const id = this.nextId++;
		return new Promise<Methods[M]["result"]>((resolve, reject) => {
			this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
			this.port.send({ id, method, params });
		});
	};

	/** answer responds to a request of the server. */
	answer(id: RequestId, result: unknown): void {
		this.port.send({ id, result });
	}

	/** close rejects the calls that wait, and later ones. */
	close(reason: string): void {
		this.closed = reason;
		this.port.detach();
		for (const p of this.pending.values()) p.reject(new CallError(0, reason, "disconnected"));
		this.pending.clear();
	}

	private receive(m: Message): void {
		if (m.method !== undefined) {
			if (m.id === undefined) this.handlers.notification(m as unknown as ServerNotification);
			else this.handlers.request(m as unknown as ServerRequest);
			return;
		}
		const p = m.id === undefined ? undefined : this.pending.get(m.id);
		if (!p) return;
		this.pending.delete(m.id!);
		if (m.error) p.reject(new CallError(m.error.code, m.error.message, String(m.error.data?.["kind"] ?? "")));
		else p.resolve(m.result);
	}
}
