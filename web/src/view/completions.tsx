// The list of completions above the composer.

import { useEffect, useState } from "preact/hooks";
import { completions, isCompleted, wordStart, type Completion } from "../store/completions.ts";
import type { ThreadStore } from "../store/thread.ts";

const maxShown = 8;
/** fileDelayMs is the time after the last key at which files are searched. */
const fileDelayMs = 120;

/** Completions are the completions of the word before the caret. */
export interface Completions {
	list: readonly Completion[];
	at: number;
	move(by: number): void;
	close(): void;
}

/** useCompletions completes the word before the caret. */
export function useCompletions(store: ThreadStore, text: string, caret: number, running: boolean): Completions {
	const [list, setList] = useState<readonly Completion[]>([]);
	const [at, setAt] = useState(0);
	const [closedFor, setClosedFor] = useState("");
	const start = wordStart(text, caret);
	const word = text.slice(start, caret);
	useEffect(() => {
		let live = true;
		const show = (found: readonly Completion[]) => {
			if (!live) return;
			setList(found.slice(0, maxShown));
			setAt(0);
		};
		const complete = () => void completions(word, store.settings.thread.value?.cwd, running).then(show, () => show([]));
		let timer = 0;
		if (word === closedFor || !isCompleted(word, start)) show([]);
		else if (word[0] === "@") timer = window.setTimeout(complete, fileDelayMs);
		else complete();
		return () => {
			live = false;
			clearTimeout(timer);
		};
	}, [word, running, closedFor]);
	return {
		list, at: Math.min(at, Math.max(0, list.length - 1)),
		move: (by) => setAt((at + by + list.length) % Math.max(1, list.length)),
		close: () => setClosedFor(word),
	};
}

/**
 * onCompletionKey handles the keys of the list. It returns false if a key is not one of them. typed is the whole
 * message: Enter sends it if the completion changes nothing.
 */
export function onCompletionKey(
	e: KeyboardEvent, c: Completions, typed: string, accept: (c: Completion) => void,
): boolean {
	const chosen = c.list[c.at];
	if (!chosen) return false;
	if (e.key === "ArrowDown" || e.key === "ArrowUp") c.move(e.key === "ArrowDown" ? 1 : -1);
	else if (e.key === "Tab" || (e.key === "Enter" && !e.shiftKey && chosen.insert !== typed)) accept(chosen);
	else if (e.key === "Escape") c.close();
	else return false;
	e.preventDefault();
	return true;
}

interface ListProps extends Pick<Completions, "list" | "at"> {
	accept(c: Completion): void;
}

/** CompletionList shows the completions. */
export function CompletionList({ list, at, accept }: ListProps) {
	if (list.length === 0) return null;
	return (
		<div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
			{list.map((c, i) => (
				<div role="option" id={`suggestion-${i}`} aria-selected={i === at} aria-disabled={c.disabled !== undefined}
					class="suggestion" onPointerDown={(e) => {
						e.preventDefault();
						accept(c);
					}}>
					<code>{c.label}</code><span class="faint ellipsis">{c.disabled ?? c.detail}</span>
				</div>
			))}
		</div>
	);
}
