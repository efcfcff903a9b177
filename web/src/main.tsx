// The workbench: the page that shows threads and controls their context.

import { render } from "preact";
import { watchAddress } from "./store/access.ts";
import { current, start } from "./store/app.ts";
import { addToDraft } from "./store/draft.ts";
import { App } from "./view/app.tsx";
import { showPanel } from "./store/panels.ts";
import { lasting } from "./wire/storage.ts";
import { addDraftEvent, showContextEvent, type Draft } from "./wire/transport.ts";

const root = document.getElementById("app")!;
root.replaceChildren(); // the text for browsers that do not come this far
render(<App />, root);
watchAddress();
void start();
window.addEventListener(showContextEvent, () => showPanel("list"));
window.addEventListener(addDraftEvent, (e) => addDraft((e as CustomEvent<Draft>).detail));

/** addDraft adds a text to the message of a thread, and shows it. */
function addDraft({ threadId, text }: Draft): void {
	const store = current.value;
	if (store?.id !== threadId) {
		addToDraft(threadId, lasting, text);
		return;
	}
	store.draft.add(text);
	requestAnimationFrame(() => {
		const field = document.querySelector<HTMLTextAreaElement>(".composer textarea");
		field?.focus();
		field?.setSelectionRange(field.value.length, field.value.length);
	});
}
