// Code with colours. The highlighter is a separate file that is loaded with the first code block.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy.tsx";
import { Once } from "./once.ts";

/** maxHighlighted is the longest code, in characters, that gets colours. */
const maxHighlighted = 20_000;

type Highlight = (text: string, language: string) => ComponentChildren;

const highlighter = new Once<Highlight>(() => import("./highlight.tsx").then((m) => m.highlight));

function useHighlight(): Highlight | null {
	const [ready, setReady] = useState(highlighter.value !== null);
	useEffect(() => {
		if (ready) return;
		let live = true;
		highlighter.load().then(() => live && setReady(true), () => undefined); // the next block tries again
		return () => {
			live = false;
		};
	}, []);
	return ready ? highlighter.value : null;
}

/** Code shows a block of code with its language and a button that copies it. */
export function Code({ text, language }: { text: string; language: string }) {
	const highlight = useHighlight();
	const name = language.split(/\s/)[0] ?? "";
	return (
		<div class="code">
			<div class="codehead"><span>{name}</span><CopyButton text={text} /></div>
			<pre tabIndex={0} aria-label={name ? `code in ${name}` : "code"}>
				<code>{highlight && text.length <= maxHighlighted ? highlight(text, name) : text}</code>
			</pre>
		</div>
	);
}
