import { MessageDraft } from "../src/store/draft.ts";
import { equal, test } from "./check.ts";
import { pass } from "./environment.ts";
import { item, list, openThread, serve } from "./server.ts";

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

test("without room in the browser, messages are written and changes are planned with their price", async () => {
	const server = serve().on("context/getItems", () => list(1, [item("a", 0)]));
	const store = await openThread(server);
	Object.assign(localStorage, { setItem: () => {
		throw new Error("QuotaExceededError");
	} });
	store.draft.set("long");
	await store.plan.change(["a"], { deleted: true });
	await pass(150);
	equal([store.draft.text.value, store.plan.changes.value.size, server.of("context/preview").length], ["long", 1, 1]);
});
