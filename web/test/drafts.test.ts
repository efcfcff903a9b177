import { MessageDraft } from "../src/store/draft.ts";
import { equal, test } from "./check.ts";

test("a message that is not sent outlives the page, by thread", () => {
	new MessageDraft("a", localStorage).set("half a sent");
	equal([new MessageDraft("a", localStorage).text.value, new MessageDraft("b", localStorage).text.value],
		["half a sent", ""]);
	new MessageDraft("a", localStorage).set("");
	equal([new MessageDraft("a", localStorage).text.value, localStorage.getItem("appserver.draft.a")], ["", null]);
});

test("a text that is offered does not replace what the user wrote", () => {
	const draft = new MessageDraft("a", localStorage);
	draft.replace("last message", "");
	equal(draft.text.value, "last message");
	draft.set("mine");
	draft.replace("", "last message");
	equal(draft.text.value, "mine");
});
