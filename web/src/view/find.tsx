// Find in the messages of a thread.

import { useEffect, useRef } from "preact/hooks";
import type { Find } from "../store/find.ts";
import { Icon } from "../lib/icons.tsx";
import { visible } from "../lib/format.ts";

/** FindBar searches the messages of a thread. */
export function FindBar({ find }: { find: Find }) {
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => input.current?.focus(), []);
	const n = find.matches.value.length;
	const current = find.matches.value[find.at.value];
	return (
		<form class="find" role="search" onSubmit={(e) => {
			e.preventDefault();
			find.move(-1);
		}} onKeyDown={(e) => {
			if (e.key === "Escape") find.close();
			else if (e.key === "Enter" && e.shiftKey) {
				e.preventDefault();
				find.move(1);
			}
		}}>
			<label class="search"><Icon name="search" />
				<input ref={input} type="search" placeholder="Find in messages" aria-label="Find in messages" value={find.term.value}
					onInput={(e) => find.search(e.currentTarget.value)} />
			</label>
			<span class="faint find-count" role="status">
				{find.term.value === "" ? "" : n === 0 ? "No match" : `${find.at.value + 1} of ${n}${find.more.value ? "+" : ""}`}
			</span>
			<button type="submit" class="quiet" aria-label="Previous match" title="Previous match (Enter)" disabled={n === 0}><Icon name="up" /></button>
			<button type="button" class="quiet" aria-label="Next match" title="Next match (Shift+Enter)" disabled={n === 0}
				onClick={() => find.move(1)}><Icon name="down" /></button>
			<span class="find-snippet ellipsis faint">{current && visible(current.snippet)}</span>
			<button type="button" class="quiet" aria-label="Close the search" onClick={() => find.close()}><Icon name="x" /></button>
		</form>
	);
}
