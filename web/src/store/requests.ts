// The requests of one thread.

import { CallError, type Connection } from "../wire/connection.ts";
import type { Notices } from "./notices.ts";

/** Caller sends requests to the server. */
export type Caller = Pick<Connection, "call">;

/** Requests sends the requests of one thread. Its parts have nothing else of the connection. */
export class Requests {
	/** stale runs if the server did nothing because the thread has changed. It reads the thread again. */
	constructor(
		readonly threadId: string, private readonly caller: Caller, private readonly notices: Notices,
		private readonly stale: () => void,
	) {}

	/** call sends a request. The caller handles its failure. */
	get call(): Connection["call"] {
		return this.caller.call.bind(this.caller) as Connection["call"];
	}

	/** edit runs requests that change the thread, and shows their failure. It returns false then. */
	async edit(run: (c: Caller, threadId: string) => Promise<unknown>): Promise<boolean> {
		try {
			await run(this.caller, this.threadId);
			return true;
		} catch (error) {
			if (error instanceof CallError && (error.kind === "staleRevision" || error.kind === "staleTurn")) {
				this.stale();
				this.notices.add("error", "The thread changed in the meantime, and nothing was done. Look at it, and try again.");
			} else {
				this.notices.report(error);
			}
			return false;
		}
	}
}
