// The keys of the list of context items.

import { replaceable } from "../store/context.ts";
import { nextRow, type ContextRow } from "../store/contextrows.ts";
import { openDialog } from "../store/dialog.ts";
import { nextOrder } from "../store/panels.ts";
import type { Change } from "../store/plan.ts";
import type { ThreadStore } from "../store/thread.ts";
import type { ContextItem } from "../wire/types.ts";
import type { Selection } from "./selection.ts";

/** KeyContext is the list that the keys act on. */
export interface KeyContext {
	store: ThreadStore;
	s: Selection;
	list: readonly ContextRow[];
	focus(key: string, extend: boolean): void;
	/** reach scrolls to a row and moves the focus there. */
	reach(key: string): void;
	/** find moves the focus to the search. */
	find(): void;
}

/** onContextKey moves the focus, or edits the selected items. */
export function onContextKey(e: KeyboardEvent, c: KeyContext): void {
	const target = e.target as HTMLElement;
	if (target.closest("textarea,input,pre,[role=menu]")) return;
	if ((e.ctrlKey || e.metaKey) && e.key === "Enter") {
		e.preventDefault();
		void c.store.plan.apply();
		return;
	}
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const at = c.list.findIndex((r) => r.key === c.s.focus.value);
	const key = nextRow(c.list, at, e.key);
	if (key !== undefined) {
		e.preventDefault();
		c.focus(key, e.shiftKey && e.key.startsWith("Arrow"));
		return;
	}
	const run = actions(c, c.list[at])[e.key];
	const pressesButton = target.closest("button") && (e.key === "Enter" || e.key === " ") && !target.id.startsWith("c-");
	if (!run || pressesButton) return;
	e.preventDefault();
	run();
}

/** actions returns what the keys do with the selected items, or with the focused row. */
function actions(
	{ store, s, list, find, reach }: KeyContext, row: ContextRow | undefined,
): Record<string, () => unknown> {
	const ids = s.targets(list);
	const wanted = new Set(ids);
	const items = store.context.items.value.filter((i) => wanted.has(i.id));
	const planned = (i: ContextItem): Change => store.plan.changes.value.get(i.id) ?? {};
	const only = items.length === 1 ? items[0]! : null;
	return {
		" ": () => store.plan.change(ids, { included: !items.some((i) => planned(i).included ?? i.included) }),
		Delete: () => store.plan.change(ids, { deleted: !items.every((i) => planned(i).deleted) }),
		p: () => store.plan.change(ids, { pinned: !items.every((i) => planned(i).pinned ?? i.pinned) }),
		r: () => only && replaceable(only) && openDialog({ kind: "replace", store, item: only }),
		Enter: () => {
			if (row?.kind === "removed") s.toggleOpen(row.match.id);
			else if (only) s.toggleOpen(only.id);
		},
		o: () => {
			nextOrder();
			if (row) requestAnimationFrame(() => reach(row.key)); // the rows have moved then
		},
		Backspace: () => store.plan.discard(),
		"/": find,
	};
}
