// A server for tests of stores: it records requests and answers them as a test wants.

import type { Caller } from "../src/store/requests.ts";
import { ThreadStore } from "../src/store/thread.ts";
import { CallError } from "../src/wire/connection.ts";
import type { ContextItem, ServerNotification } from "../src/wire/types.ts";
import { settle } from "./environment.ts";

type Answer = (params: never) => unknown;

/** Held is a request that a test answers later. */
interface Held {
	params: Record<string, unknown>;
	answer(result: unknown): Promise<void>;
	fail(error: Error): Promise<void>;
}

/** FakeServer answers each request at once, unless its method is held. */
export class FakeServer {
	readonly calls: [method: string, params: unknown][] = [];
	private readonly answers = new Map<string, Answer>();

	/** on sets the answer to a method. It may throw a CallError. */
	on(method: string, answer: Answer): this {
		this.answers.set(method, answer);
		return this;
	}

	/** hold keeps the requests of a method open. It returns them in their order. */
	hold(method: string): Held[] {
		const held: Held[] = [];
		this.on(method, (params: never) => new Promise((resolve, reject) => {
			held.push({
				params,
				answer: (result) => (resolve(result), settle()),
				fail: (error) => (reject(error), settle()),
			});
		}));
		return held;
	}

	/** of returns the params of the requests of a method. */
	of(method: string): Record<string, unknown>[] {
		return this.calls.filter(([m]) => m === method).map(([, params]) => params as Record<string, unknown>);
	}

	/** caller is the server as stores see it. */
	get caller(): Caller {
		return { call: (method: string, params: unknown) => this.call(method, params) } as unknown as Caller;
	}

	private async call(method: string, params: unknown): Promise<unknown> {
		this.calls.push([method, params]);
		const answer = this.answers.get(method);
		if (!answer) throw new CallError(-32601, `no answer to ${method}`, "", {});
		return answer(params as never);
	}
}

/** failure returns an error response with a kind. */
export const failure = (kind: string, message = kind): CallError => new CallError(-32600, message, kind, {});

/** item returns an item of the context. */
export function item(id: string, index: number, change: Partial<ContextItem> = {}): ContextItem {
	return {
		index, id, category: "userMessage", preview: id, included: true, inPrompt: true, pinned: false, replaced: false,
		tokens: 1, bytes: 1, turnId: null, itemId: null, callId: null, toolName: null, ...change,
	};
}

/** list returns the answer to context/getItems. */
export const list = (revision: number, items: readonly ContextItem[], nextCursor: string | null = null) =>
	({ revision, items, usage: null, nextCursor });

/** entry returns an entry of the timeline with a message of the agent, or with another item. */
export const entry = (id: string, item: object = {}) =>
	({ type: "item", position: 0, turnId: "turn", trimmed: false, item: { type: "agentMessage", id, text: id, ...item } });

/** page returns the answer to thread/timeline/list. */
export const page = (data: readonly object[], change: object = {}) =>
	({ data, nextCursor: null, newerCursor: null, ...change });

/** notification returns a notification about the thread of openThread. */
export const notification = (method: string, params: object): ServerNotification =>
	({ method, params: { threadId: "t", ...params } }) as unknown as ServerNotification;

/** serve returns a server with a thread that is idle and empty. */
export function serve(): FakeServer {
	return new FakeServer()
		.on("thread/resume", () => ({
			thread: { id: "t", cwd: "/w", name: null, preview: "", status: { type: "idle" } }, model: "m", reasoningEffort: null,
			approvalPolicy: "never",
		}))
		.on("thread/timeline/list", () => page([]))
		.on("context/getItems", () => list(1, []))
		.on("context/preview", () => ({ netPrice: {} }))
		.on("config/read", () => ({ config: {} }));
}

/** openThread opens a thread. Each test has one of its own. */
export async function openThread(server: FakeServer): Promise<ThreadStore> {
	const store = new ThreadStore("t", server.caller);
	await store.open();
	server.calls.length = 0;
	return store;
}
