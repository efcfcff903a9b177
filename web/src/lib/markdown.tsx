// Markdown as nodes. Raw HTML shows as text, images as links, and only http(s) links can be followed.

import type { Token, Tokens } from "marked";
import type { Blocks } from "./blocks.ts";
import { memo } from "./memo.ts";
import type { ComponentChildren } from "preact";
import { Code } from "./code.tsx";
import { isWebAddress, PathLink, WebLink } from "./links.tsx";
import { placeOf } from "./openpath.ts";

/** Markdown shows a text. The parser is kept by the caller, so that a growing text is cheap. */
export function Markdown({ text, blocks }: { text: string; blocks: Blocks }) {
	return <div class="markdown">{blocks.update(text).map((token, i) => <Block key={i} token={token} />)}</div>;
}

const Block = memo<{ token: Token }>(({ token }) => <>{block(token)}</>, (a, b) => a.token === b.token);

function block(token: Token): ComponentChildren {
	switch (token.type) {
		case "space":
		case "def":
			return null;
		case "heading": {
			const t = token as Tokens.Heading;
			const Tag = `h${Math.min(6, t.depth + 2)}` as "h3";
			return <Tag>{inline(t.tokens)}</Tag>;
		}
		case "paragraph":
			return <p>{inline((token as Tokens.Paragraph).tokens)}</p>;
		case "code": {
			const t = token as Tokens.Code;
			return <Code text={t.text} language={t.lang ?? ""} />;
		}
		case "blockquote":
			return <blockquote>{(token as Tokens.Blockquote).tokens.map(block)}</blockquote>;
		case "list":
			return list(token as Tokens.List);
		case "table":
			return table(token as Tokens.Table);
		case "hr":
			return <hr />;
		case "text": {
			const t = token as Tokens.Text;
			return t.tokens ? <>{inline(t.tokens)}</> : plain(t.text);
		}
		default:
			return <p>{token.raw}</p>;
	}
}

function list(t: Tokens.List): ComponentChildren {
	const items = t.items.map((item) => (
		<li>
			{item.task && <input type="checkbox" checked={item.checked} disabled aria-label={item.checked ? "done" : "open"} />}
			{item.tokens.map(block)}
		</li>
	));
	return t.ordered ? <ol dir="auto" start={Number(t.start) || 1}>{items}</ol> : <ul dir="auto">{items}</ul>;
}

function table(t: Tokens.Table): ComponentChildren {
	return (
		<div class="tablebox" tabIndex={0} role="region" aria-label="table">
			<table>
				<thead><tr>{t.header.map((c) => <th>{inline(c.tokens)}</th>)}</tr></thead>
				<tbody>{t.rows.map((r) => <tr>{r.map((c) => <td>{inline(c.tokens)}</td>)}</tr>)}</tbody>
			</table>
		</div>
	);
}

function inline(tokens: readonly Token[]): ComponentChildren[] {
	return tokens.map((token): ComponentChildren => {
		switch (token.type) {
			case "strong":
				return <strong>{inline((token as Tokens.Strong).tokens)}</strong>;
			case "em":
				return <em>{inline((token as Tokens.Em).tokens)}</em>;
			case "del":
				return <del>{inline((token as Tokens.Del).tokens)}</del>;
			case "codespan":
				return codespan(plain((token as Tokens.Codespan).text));
			case "br":
				return <br />;
			case "link": {
				const t = token as Tokens.Link;
				return link(t.href, inline(t.tokens));
			}
			case "image": {
				const t = token as Tokens.Image;
				return link(t.href, [`image: ${t.text || t.href}`]);
			}
			case "escape":
				return (token as Tokens.Escape).text;
			case "text": {
				const t = token as Tokens.Text;
				return t.tokens ? inline(t.tokens) : plain(t.text);
			}
			default:
				return token.raw;
		}
	});
}

/** codespan shows a short code. The path of a file opens the file. */
function codespan(text: string): ComponentChildren {
	return placeOf(text) ? <PathLink text={text}><code>{text}</code></PathLink> : <code>{text}</code>;
}

/** link returns a link to an http(s) address or to a file, and the text with the address otherwise. */
function link(href: string, text: ComponentChildren[]): ComponentChildren {
	if (isWebAddress(href)) return <WebLink href={href}>{text}</WebLink>;
	if (placeOf(href)) return <PathLink text={href}>{text}</PathLink>;
	return <span class="deadlink" title={href}>{text}</span>;
}

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** plain reverts the escaping of the lexer: nodes need none. */
function plain(text: string): string {
	return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (e) => entities[e]!);
}
