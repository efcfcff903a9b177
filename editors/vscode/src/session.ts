// One run of the server: its clients, from its start to its end.

import type { ContextUsage, RequestId } from "../../../schema/ts/index.ts";
import { Approvals, type Ui } from "./approvals.ts";
import { Mux } from "./mux.ts";
import type { Page } from "./page.ts";
import { Rpc, type Call } from "./rpc.ts";
import { Threads } from "./threads.ts";

/** SessionEvents are the changes of a session that the editor shows. */
export interface SessionEvents extends Ui {
	current(threadId: string): void;
	usage(usage: ContextUsage | null): void;
	/** failed is called if the server rejects the handshake. */
	failed(reason: string): void;
}

/** Session is one run of the server, shared by the pages and the extension. */
export class Session {
	readonly threads: Threads;
	private readonly mux: Mux;
	private readonly rpc: Rpc;
	private readonly approvals: Approvals;
	private closed = false;
	/** ready is fulfilled when the server has accepted the extension as its client. */
	readonly ready: Promise<void>;

	constructor(send: (text: string) => void, private readonly events: SessionEvents, threadId: string | null,
		version: string) {
		this.threads = new Threads({
			current: (id) => {
				events.current(id);
				this.loadUsage(id).catch(() => undefined);
			},
			usage: events.usage,
		}, threadId);
		this.mux = new Mux(send, this.threads);
		this.approvals = new Approvals(events, (id, decision) => this.answer(id, decision));
		this.rpc = new Rpc(this.mux, {
			notification: (n) => {
				this.threads.notice(n);
				this.approvals.notice(n);
			},
			request: (r) => void this.approvals.ask(r),
		});
		this.threads.bind(this.mux, this.rpc.port);
		this.ready = this.initialize(version);
		this.ready.catch((error: Error) => events.failed(error.message));
	}

	/** connect gives a page its connection, when the server is ready. */
	connect(page: Page): void {
		this.ready.then(() => page.connected(this.mux), () => undefined);
	}

	/** call sends a request when the server is ready. */
	readonly call: Call = (method, params) => this.ready.then(() => this.rpc.call(method, params));

	receive(text: string): void {
		this.mux.receive(text);
	}

	close(reason: string): void {
		this.closed = true;
		this.rpc.close(reason);
	}

	/** latest returns the thread that a page opened last, or else the newest one of a folder, or null. */
	async latest(folder: string | undefined): Promise<string | null> {
		if (this.threads.current !== null) return this.threads.current;
		const page = await this.call("thread/list",
			{ limit: 1, sortKey: "updated_at", modelProviders: [], cwd: folder ?? null });
		return page.data[0]?.id ?? null;
	}

	private answer(id: RequestId, decision: string): boolean {
		if (this.closed || !this.mux.isOpen(id)) return false;
		this.rpc.answer(id, { decision });
		return true;
	}

	private async initialize(version: string): Promise<void> {
		await this.rpc.call("initialize", {
			clientInfo: { name: "vscode", title: "Visual Studio Code", version },
			capabilities: { experimentalApi: true, contextItemsDelta: true, slashCommands: "refuse" },
		});
		const current = this.threads.current;
		if (current === null) return;
		// Questions of the thread come again, also if no page is open. A locked thread can be read only.
		await this.rpc.call("thread/resume", { threadId: current, excludeTurns: true }).catch(() => undefined);
		await this.loadUsage(current).catch(() => this.threads.forget(current));
	}

	private async loadUsage(threadId: string): Promise<void> {
		const { usage } = await this.rpc.call("context/getUsage", { threadId });
		if (this.threads.current === threadId) this.events.usage(usage);
	}
}
