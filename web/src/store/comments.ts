// Comments on lines of changes. They go to the agent as one message.

import { signal } from "@preact/signals";
import type { DiffLine } from "../lib/patch.ts";
import type { ThreadStore } from "./thread.ts";

/** Comment is a remark on a line of a file. */
export interface Comment {
	id: number;
	path: string;
	line: DiffLine;
	text: string;
}

const longestQuote = 500;
const kinds: Partial<Record<DiffLine["type"], string>> = { add: ", added line", del: ", removed line" };

/** placeOfLine names a line of a file. */
export const placeOfLine = (path: string, line: DiffLine): string => `${path}:${line.new || line.old}`;

/** Comments has the comments of one thread that are not sent yet. */
export class Comments {
	readonly list = signal<readonly Comment[]>([]);
	readonly sending = signal(false);
	private last = 0;

	constructor(private readonly store: ThreadStore) {}

	/** set adds a comment to a line, or replaces the one that it has. Without a text it is removed. */
	set(path: string, line: DiffLine, text: string): void {
		const others = this.list.value.filter((c) => c !== this.of(path, line));
		this.list.value = text.trim() === "" ? others : [...others, { id: ++this.last, path, line, text: text.trim() }];
	}

	/** of returns the comment on a line. */
	of(path: string, line: DiffLine): Comment | undefined {
		return this.list.value.find((c) => c.path === path && c.line.old === line.old && c.line.new === line.new &&
			c.line.text === line.text);
	}

	/** send sends the comments as one message, and shows a failure. The comments stay then. */
	async send(): Promise<void> {
		const sent = this.list.value;
		this.sending.value = true;
		try {
			await this.store.turns.send([{ type: "text", text: messageOf(sent) }]);
			this.list.value = this.list.value.filter((c) => !sent.includes(c));
		} catch (error) {
			this.store.notices.report(error);
		} finally {
			this.sending.value = false;
		}
	}
}

/** messageOf returns the message of comments: each with its place, the line, and the text. */
export function messageOf(list: readonly Comment[]): string {
	const one = ({ path, line, text }: Comment) =>
		`${placeOfLine(path, line)}${kinds[line.type] ?? ""}\n> ${line.text.slice(0, longestQuote)}\n\n${text}`;
	return `Comments on the changes:\n\n${list.map(one).join("\n\n")}`;
}

/** commentsOf returns the comments of a thread. They stay while the thread is open. */
export const commentsOf = (store: ThreadStore): Comments => store.part(Comments);
