// The text of a message that is not sent yet. It outlives the page.

import { signal } from "@preact/signals";

/** MessageDraft has the text of the composer of one thread. */
export class MessageDraft {
	readonly text = signal("");
	private readonly key: string;

	constructor(threadId: string, private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
		this.key = `appserver.draft.${threadId}`;
		this.text.value = storage.getItem(this.key) ?? "";
	}

	/** set replaces the text. */
	set(text: string): void {
		if (text === "") this.storage.removeItem(this.key);
		else this.storage.setItem(this.key, text);
		this.text.value = text;
	}

	/** replace replaces the text if it is the former one, so that it loses nothing that the user wrote. */
	replace(text: string, former: string): void {
		if (this.text.peek() === former) this.set(text);
	}
}
