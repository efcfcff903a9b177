// Links in texts: web addresses, and paths of files.

import type { ComponentChildren } from "preact";
import { visible } from "./format.ts";
import { openPath, placeOf } from "./openpath.ts";

/** isWebAddress reports whether a text is an http(s) address that the browser reads as it is shown. */
export function isWebAddress(text: string): boolean {
	return /^https?:\/\/[^\s\u0000-\u0020\u007f]+$/i.test(text) && visible(text) === text && URL.canParse(text);
}

/** WebLink is a link to an http(s) address. */
export function WebLink({ href, children }: { href: string; children: ComponentChildren }) {
	return <a href={href} title={href} target="_blank" rel="noopener noreferrer">{children}</a>;
}

/** PathLink opens a file. Without a path in the text it shows the text only. */
export function PathLink({ text, children }: { text: string; children: ComponentChildren }) {
	const place = placeOf(text);
	if (!place) return <>{children}</>;
	return (
		<button type="button" class="pathlink" title={`Open ${text}`} onClick={() => openPath(place.path, place.line)}>{children}</button>
	);
}

/** maxLinked is the number of characters of a text in which links are searched. */
const maxLinked = 100_000;
const candidate = /https?:\/\/[^\s"'<>`]+|[\w@+./-]+\.[A-Za-z]\w*:\d+/g;

/** linked returns the nodes of a text of a program. Addresses, and paths with a line, are links. */
export function linked(text: string): ComponentChildren {
	if (text.length > maxLinked || !/:\d|:\/\//.test(text)) return text;
	const nodes: ComponentChildren[] = [];
	let from = 0;
	for (const m of text.matchAll(candidate)) {
		const word = m[0].startsWith("http") ? m[0].replace(/[.,;:!?)\]}]+$/, "") : m[0];
		const link = isWebAddress(word) ? <WebLink href={word}>{word}</WebLink>
			: placeOf(word) ? <PathLink text={word}>{word}</PathLink> : null;
		if (!link) continue;
		nodes.push(text.slice(from, m.index), link);
		from = m.index + word.length;
	}
	if (from === 0) return text;
	nodes.push(text.slice(from));
	return nodes;
}
