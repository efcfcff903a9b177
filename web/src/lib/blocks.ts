// The blocks of a Markdown text that grows.

import { lexer, type Token } from "marked";

/** Blocks keeps the blocks of a growing text that cannot change any more. */
export class Blocks {
	private closed: Token[] = [];
	private end = 0;
	private text = "";
	/** parsed counts the blocks that the last update parsed, without empty lines. */
	parsed = 0;

	/** update returns the blocks of the text. A text that grows is parsed from its last block on. */
	update(text: string): readonly Token[] {
		if (!text.startsWith(this.text.slice(0, this.end))) {
			this.closed = [];
			this.end = 0;
		}
		this.text = text;
		const tokens = lexer(text.slice(this.end));
		this.parsed = tokens.filter((t) => t.type !== "space").length;
		while (tokens.length > 2) {
			const token = tokens.shift()!;
			this.end += token.raw.length;
			this.closed.push(token);
		}
		return [...this.closed, ...tokens];
	}
}
