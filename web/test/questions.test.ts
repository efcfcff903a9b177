import * as questions from "../src/store/questions.ts";
import type { ServerRequest } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";
import { pass } from "./environment.ts";

const request = (id: number, itemId = "i") =>
	({ id, method: "item/fileChange/requestApproval", params: { threadId: "t", itemId } }) as unknown as ServerRequest;
const ids = () => questions.questions.value.map((q) => q.id);

test("a question that is asked again after a reconnect keeps its state, and others leave", () => {
	questions.ask(request(1));
	questions.ask(request(2));
	questions.setLater(1, true);
	questions.disconnected();
	equal(questions.questions.value.map((q) => q.stale), [true, true]);
	questions.ask(request(1));
	questions.reconnected();
	equal([ids(), questions.questions.value[0]!.later, questions.questions.value[0]!.stale], [[1], true, false]);
});

test("a question that was answered elsewhere says so for some seconds", async () => {
	questions.ask(request(1));
	equal(questions.waits("i"), true);
	questions.resolved(1);
	questions.resolved(99);
	equal([questions.waits("i"), questions.questions.value[0]!.resolved], [false, true]);
	await pass(5000);
	equal(ids(), []);
});

test("an answered question leaves at once, and the next one ignores input for a moment", async () => {
	questions.ask(request(1));
	questions.ask(request(2));
	await pass(1000);
	questions.answered(1);
	equal([ids(), questions.questions.value[0]!.shownAt - Date.now()], [[2], questions.guardMs]);
});

test("a new question ignores input for a moment, and one that is shown again as well", async () => {
	questions.ask(request(1));
	equal(questions.questions.value[0]!.shownAt - Date.now(), questions.guardMs);
	await pass(1000);
	questions.setLater(1, false);
	equal(questions.questions.value[0]!.shownAt - Date.now(), questions.guardMs);
});
