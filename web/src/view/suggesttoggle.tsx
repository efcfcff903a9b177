// The section of the suggestions, which is loaded when it is first opened.

import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { lazy } from "../lib/lazy.tsx";
import type { Selection } from "./selection.ts";

const Cards = lazy(() => import("./suggestions.tsx").then((m) => m.Suggestions));

/** SuggestionsToggle opens and closes the section, and shows how many suggestions are known. */
export function SuggestionsToggle({ store }: { store: ThreadStore }) {
	const s = store.suggestions;
	const known = s.answer.value?.suggestions.length ?? 0;
	return (
		<button type="button" class="suggest-toggle" aria-expanded={s.open.value} aria-controls="suggest" onClick={() => s.toggle()}>
			<span class={`chevron ${s.open.value ? "open" : ""}`}><Icon name="chevron" /></span>Suggestions{known > 0 && <span class="badge edited">{known}<span class="visually-hidden"> found</span></span>}
		</button>
	);
}

/** Suggestions is the section with the cards, while it is open. */
export function Suggestions({ store, selection }: { store: ThreadStore; selection: Selection }) {
	if (!store.suggestions.open.value) return <section id="suggest" hidden />;
	return <Cards store={store} selection={selection} />;
}
