// The note of a context item. The model never receives it.

import { useState } from "preact/hooks";
import { attempt } from "../store/app.ts";
import type { ContextItem } from "../wire/types.ts";

/** maxNote is the maximum length of a note, in characters. */
const maxNote = 2000;

/** ItemNote shows the note of an item, or a field to write it. */
export function ItemNote({ item, threadId }: { item: ContextItem; threadId: string }) {
	const [draft, setDraft] = useState<string | null>(null);
	const save = async (text: string) => {
		const note = text.trim() || null;
		const answer = await attempt((c) => c.call("context/setNote", { threadId, ids: [item.id], note }));
		if (answer) setDraft(null);
	};
	if (draft === null) {
		return (
			<p class="why">
				{item.note && <span class="pre">Note: {item.note}</span>}
				<button type="button" class="small" onClick={() => setDraft(item.note ?? "")}>{item.note ? "Edit note…" : "Add note…"}</button>
			</p>
		);
	}
	return (
		<form class="details-actions" onSubmit={(e) => {
			e.preventDefault();
			void save(draft);
		}}>
			<textarea rows={2} maxLength={maxNote} value={draft} aria-label="Note, which the model never receives"
				onInput={(e) => setDraft(e.currentTarget.value)} />
			<button type="submit" class="small">Save note</button>
			<button type="button" class="small" onClick={() => setDraft(null)}>Cancel</button>
		</form>
	);
}
