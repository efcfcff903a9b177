// The text of a message that is not sent yet. It outlives the page.

import { signal } from "@preact/signals";
import { keep, type Keeper } from "../lib/keep.ts";

/** draftKey returns the name of the stored draft of a thread. */
export const draftKey = (threadId: string): string => `appserver.draft.${threadId}`;

const withAdded = (former: string, text: string): string =>
	`${former.trim() === "" ? "" : `${former.trimEnd()}\n\n`}${text}\n`;

/** addToDraft adds a text to the stored draft of a thread that is not open. */
export function addToDraft(threadId: string, storage: Keeper, text: string): void {
	keep(storage, draftKey(threadId), withAdded(storage.getItem(draftKey(threadId)) ?? "", text));
}

/** MessageDraft has the text of the composer of one thread. */
export class MessageDraft {
	readonly text = signal("");
	private readonly key: string;

	constructor(threadId: string, private readonly storage: Keeper) {
		this.key = draftKey(threadId);
		this.text.value = storage.getItem(this.key) ?? "";
	}

	/** set replaces the text. */
	set(text: string): void {
		keep(this.storage, this.key, text);
		this.text.value = text;
	}

	/** add adds a text after the former one, in a paragraph of its own. */
	add(text: string): void {
		this.set(withAdded(this.text.peek(), text));
	}

	/** replace replaces the text if it is the former one, so that it loses nothing that the user wrote. */
	replace(text: string, former: string): void {
		if (this.text.peek() === former) this.set(text);
	}
}
