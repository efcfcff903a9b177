// Warnings and errors about a thread.

import { signal } from "@preact/signals";
import { CallError } from "../wire/connection.ts";
import type { ServerNotification } from "../wire/types.ts";

/** kept is the number of notices that are shown. */
const kept = 5;

/** Notice is a warning or an error about the thread, until the user closes it. */
export interface Notice {
	id: number;
	kind: "warning" | "error" | "done";
	text: string;
}

/** Notices has the newest notices of one thread. */
export class Notices {
	readonly list = signal<readonly Notice[]>([]);
	private last = 0;

	/** add shows a text, unless it is shown already. */
	add(kind: Notice["kind"], text: string): void {
		if (this.list.value.some((n) => n.text === text)) return;
		this.list.value = [...this.list.value.slice(1 - kept), { id: ++this.last, kind, text }];
	}

	/** replace shows a text in place of the notice that begins with a prefix. */
	replace(kind: Notice["kind"], text: string, prefix: string): void {
		this.list.value = this.list.value.filter((n) => !n.text.startsWith(prefix));
		this.add(kind, text);
	}

	/** close removes a notice. */
	close(id: number): void {
		this.list.value = this.list.value.filter((n) => n.id !== id);
	}

	/** report shows the error of a request. The banner of the page shows that the connection is lost. */
	report(error: unknown): void {
		if (error instanceof CallError && error.kind === "disconnected") return;
		this.add("error", error instanceof Error ? error.message : String(error));
	}

	/** notified shows the warnings of the server. */
	notified(n: ServerNotification): void {
		if (n.method === "warning") this.add("warning", n.params.message);
	}
}
