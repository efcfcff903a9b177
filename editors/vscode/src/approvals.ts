// Approval requests as notifications of the editor. The page shows the same requests; the first answer counts.

import type { FileUpdateChange, RequestId, ServerNotification, ServerRequest } from "../../../schema/ts/index.ts";
import { plural, visible } from "../../../web/src/lib/format.ts";

/** maxText is the number of characters of a command that a notification shows in full. */
const maxText = 240;

/** Decision is an answer of the user. */
export type Decision = "accept" | "acceptForSession" | "decline";

/** Ui shows a question and returns the title of the chosen button, or undefined if it was closed without an answer. */
export interface Ui {
	ask(text: string, titles: readonly string[]): Promise<string | undefined>;
	/** show opens the question in the page. */
	show(threadId: string): void;
	/** late reports that the chosen answer did not count. */
	late(): void;
}

/** Question is the content of a notification. */
export interface Question {
	threadId: string;
	text: string;
	/**
	 * complete is set if the text shows everything that is accepted. Otherwise the question has no button to accept it.
	 */
	complete: boolean;
	/** session is set if the decision can be remembered. */
	session: boolean;
}

/** titles are the buttons of a question. */
export const titles = { accept: "Accept", acceptForSession: "Accept for Session", decline: "Decline", show: "Show" } as const;

// The editor shows one paragraph, and makes links of this syntax.
const unshowable = /\n|\[[^\]]*\]\(/;

/** describe returns the question of a request, or null if only the page can answer it. */
export function describe(r: ServerRequest, changes: readonly FileUpdateChange[]): Question | null {
	if (r.method === "item/commandExecution/requestApproval") {
		const { threadId, command, cwd, reason, availableDecisions } = r.params;
		const shown = visible(command);
		const complete = shown.length <= maxText && !unshowable.test(command) && !unshowable.test(cwd);
		const what = complete ? `${shown} (in ${visible(cwd)})` : `${excerpt(shown)} (shortened)`;
		const session = availableDecisions.includes("acceptForSession");
		return { threadId, text: `May this command run? ${what}${because(reason)}`, complete, session };
	}
	if (r.method === "item/fileChange/requestApproval") {
		const { threadId, reason, grantRoot } = r.params;
		const paths = changes.map((c) => visible(c.path)).join(", ");
		// A notification has no room for the lines of a change, so the paths are what is accepted.
		const complete = changes.length > 0 && !grantRoot && paths.length <= maxText && !unshowable.test(paths);
		const what = changes.length === 0 ? "" : ` ${plural(changes.length, "file")}: ${complete ? paths : excerpt(paths)}`;
		return { threadId, text: `May these files be changed?${what}${because(reason)}`, complete, session: true };
	}
	return null;
}

function excerpt(text: string): string {
	const line = text.replace(/\s+/g, " ").replace(/\]\(/g, "] (");
	return line.length > maxText ? `${line.slice(0, maxText)}…` : line;
}

function because(reason: string | null): string {
	return reason ? ` – ${excerpt(visible(reason))}` : "";
}

/** Approvals shows each open request once. */
export class Approvals {
	private readonly asked = new Set<RequestId>();
	/** changes has the changes of files that were announced before their approval, by item. */
	private readonly changes = new Map<string, readonly FileUpdateChange[]>();

	/** send answers a request. It reports whether the answer was the first one. */
	constructor(private readonly ui: Ui, private readonly send: (id: RequestId, decision: Decision) => boolean) {}

	/** notice takes a notification of the server. */
	notice(n: ServerNotification): void {
		if (n.method === "item/started" && n.params.item.type === "fileChange") {
			this.changes.set(n.params.item.id, n.params.item.changes);
		}
		if (n.method === "item/completed") this.changes.delete(n.params.item.id);
		if (n.method === "serverRequest/resolved") this.asked.delete(n.params.requestId);
	}

	/** ask shows a request, unless it is shown already. It returns when the user has answered. */
	async ask(r: ServerRequest): Promise<void> {
		const itemId = (r.params as { itemId?: string | null }).itemId ?? "";
		const q = describe(r, this.changes.get(itemId) ?? []);
		if (!q || this.asked.has(r.id)) return;
		this.asked.add(r.id);
		const offered = q.complete
			? [titles.accept, ...(q.session ? [titles.acceptForSession] : []), titles.decline, titles.show]
			: [titles.show, titles.decline];
		const chosen = await this.ui.ask(q.text, offered);
		if (chosen === titles.show) this.ui.show(q.threadId);
		const decision = (["accept", "acceptForSession", "decline"] as const).find((d) => titles[d] === chosen);
		if (decision && !this.send(r.id, decision)) this.ui.late();
	}
}
