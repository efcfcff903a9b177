import { CompactionDraft } from "../src/store/compaction.ts";
import { equal, test } from "./check.ts";
import { failure, item, list, notification, openThread, serve, type FakeServer } from "./server.ts";

const answer = (change: object = {}) => ({
	draftId: "d1", strategy: "summary", summary: "S", lossDetails: [], tokensBefore: 100, tokensAfter: 40,
	replaces: { itemIds: [], turnIds: [] }, ...change,
});

async function make(server: FakeServer) {
	const store = await openThread(server);
	const draft = new CompactionDraft(store.requests, store.context, (run) => store.watch(run), "summary", null);
	return { store, draft };
}

test("the summary appears while the model writes it, and its final text replaces it", async () => {
	const server = serve();
	const { store, draft } = await make(server);
	const held = server.hold("thread/compact/propose");
	const done = draft.propose();
	for (const delta of ["on", "e"]) store.apply(notification("thread/compact/delta", { delta }));
	equal([draft.writing.value, draft.streamed.value], [true, "one"]);
	await held[0]!.answer(answer({ summary: "final" }));
	equal([await done, draft.writing.value, draft.text.value], [true, false, "final"]);
	store.apply(notification("thread/compact/delta", { delta: "late" }));
	equal(draft.streamed.value, "one");
});

test("a draft of an older context expires: the text stays, and a new draft is made without the model", async () => {
	const server = serve().on("thread/compact/propose", () => answer()).on("thread/compact/commit", () => {
		throw failure("draftExpired");
	});
	const { draft } = await make(server);
	await draft.propose();
	draft.text.value = "mine";
	equal([await draft.commit(), draft.expired.value, draft.failure.value, draft.text.value], [false, true, "", "mine"]);
	await draft.renew();
	equal([server.of("thread/compact/propose").at(-1)!["strategy"], draft.text.value, draft.expired.value],
		["local", "mine", false]);
});

test("items of losses are pinned before the compaction, and the draft is made again", async () => {
	const server = serve().on("thread/compact/propose", () => answer()).on("context/pin", () => ({}))
		.on("thread/compact/commit", () => ({}));
	const { draft } = await make(server);
	await draft.propose();
	draft.togglePin({ kind: "decision", text: "x", itemIds: ["i1", "i2"] });
	equal(await draft.commit(), true);
	equal(server.calls.map(([method]) => method),
		["thread/compact/propose", "context/pin", "thread/compact/propose", "thread/compact/commit"]);
	equal(server.of("context/pin")[0]!["ids"], ["i1", "i2"]);
});

test("an unchanged summary is not sent again, and an edited one is", async () => {
	const server = serve().on("thread/compact/propose", () => answer()).on("thread/compact/commit", () => ({}));
	const { draft } = await make(server);
	await draft.propose();
	await draft.commit();
	await draft.propose();
	draft.insertText("more");
	await draft.commit();
	equal(server.of("thread/compact/commit").map((p) => p["text"]), [null, "S\n- more"]);
});

test("the size of the next request follows the text and the pinned items", async () => {
	const server = serve().on("context/getItems", () => list(1, [item("i", 0, { tokens: 7 })]))
		.on("thread/compact/propose", () => answer());
	const { draft } = await make(server);
	await draft.propose();
	equal(draft.tokensAfter, 40);
	draft.text.value = "S".repeat(9);
	draft.togglePin({ kind: "decision", text: "x", itemIds: ["i"] });
	equal(draft.tokensAfter, 40 + 2 + 7);
});
