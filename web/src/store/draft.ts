// The text of a message that is not sent yet. It outlives the page.

import { signal } from "@preact/signals";
import { keep, type Keeper } from "../lib/keep.ts";

/** draftKey returns the name of the stored draft of a thread. */
export const draftKey = (threadId: string): string => `appserver.draft.${threadId}`;

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

	/** replace replaces the text if it is the former one, so that it loses nothing that the user wrote. */
	replace(text: string, former: string): void {
		if (this.text.peek() === former) this.set(text);
	}
}
