// Find in the whole texts of the context, and exclude what was found.

import type { RefObject } from "preact";
import type { ContextFind } from "../store/contextfind.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { plural, short, visible } from "../lib/format.ts";
import type { ContextItem, ContextMatch } from "../wire/types.ts";

interface Props {
	store: ThreadStore;
	find: ContextFind;
	input: RefObject<HTMLInputElement | null>;
}

/** ContextFindBar has the search and its options. */
export function ContextFindBar({ store, find, input }: Props) {
	return (
		<div class="panel-find">
			<label class="search"><Icon name="search" />
				<input ref={input} type="search" placeholder="Find in context" aria-label="Find in context" value={find.query.value}
					maxLength={1000} aria-invalid={find.failure.value !== ""}
						onInput={(e) => (find.query.value = e.currentTarget.value)} />
			</label>
			<button type="button" class="toggle" aria-pressed={find.matchCase.value} title="Match case" aria-label="Match case"
				onClick={() => (find.matchCase.value = !find.matchCase.value)}>Aa</button>
			<button type="button" class="toggle" aria-pressed={find.regex.value} title="Regular expression" aria-label="Regular expression"
				onClick={() => (find.regex.value = !find.regex.value)}>.*</button>
			<button type="button" class="toggle" aria-pressed={find.includeRemoved.value} title="Search removed items, too: compacted, trimmed and deleted ones"
				aria-label="Also removed items" onClick={() => (find.includeRemoved.value = !find.includeRemoved.value)}><Icon name="archive" /></button>
			{find.failure.value !== "" && <p class="error-text find-error" role="alert">{find.failure.value}</p>}
			{find.active && find.answered.value && find.failure.value === "" &&
				<ExcludeMatches store={store} items={find.items.value} />}
			{find.includeRemoved.value && <RemovedMatches find={find} />}
		</div>
	);
}

function ExcludeMatches({ store, items }: { store: ThreadStore; items: readonly ContextItem[] }) {
	const included = items.filter((i) => i.included);
	if (included.length === 0) return null;
	const tokens = included.reduce((sum, i) => sum + (i.inPrompt ? i.tokens : 0), 0);
	return (
		<button type="button" class="small" onClick={() => void store.plan.change(included.map((i) => i.id), { included: false })}>
			Exclude {plural(included.length, "match", "matches")} ({short(tokens)})
		</button>
	);
}

/** RemovedMatches says how many removed items match. The map does not have them. */
function RemovedMatches({ find }: { find: ContextFind }) {
	const searched = find.query.value.trim() !== "";
	const n = find.removedCount.value;
	return (
		<p class="find-removed faint" role="status">
			{!searched ? "The search finds removed items, too." : !find.answered.value ? "Searching…"
				: n === 0 ? "No removed item matches."
				: `${plural(n, "removed item matches", "removed items match")}: see the end of the list.`}
		</p>
	);
}

/** beforeMatch is the number of characters before a match, so that a narrow row has the match. */
const beforeMatch = 10;

/** Snippet shows the first match of an item with the text around it. */
export function Snippet({ match }: { match: ContextMatch }) {
	const runes = [...visible(match.before)];
	const before = runes.length > beforeMatch ? `…${runes.slice(-beforeMatch).join("")}` : runes.join("");
	return (
		<span class="preview">
			{before}<mark>{visible(match.match)}</mark>{visible(match.after)}
			{match.count > 1 && <span class="faint"> ×{match.count}</span>}
		</span>
	);
}
