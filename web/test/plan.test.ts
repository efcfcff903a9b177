import { merge, operationsOf, rebase, type Plan } from "../src/store/plan.ts";
import { ThreadStore } from "../src/store/thread.ts";
import { equal, test } from "./check.ts";
import { pass, settle } from "./environment.ts";
import { failure, item, list, notification, openThread, serve } from "./server.ts";

const three = [item("a", 0), item("b", 1), item("c", 2)];
const delay = 150;

/** served returns a server with a thread of three items, whose plans have a price. */
const served = () => serve().on("context/getItems", () => list(1, three))
	.on("context/preview", () => ({ netPrice: { tokensSaved: 5 } }));

const price = (store: ThreadStore) =>
	(store.plan.preview.value as { netPrice: { tokensSaved: number } } | null)?.netPrice.tokensSaved;

test("a plan becomes one edit of each kind", () => {
	const plan: Plan = new Map([
		["a", { included: false, pinned: true }], ["b", { included: false }], ["c", { deleted: true }],
		["d", { text: "short" }],
	]);
	equal(operationsOf(plan), [
		{ type: "setInclusion", ids: ["a", "b"], included: false }, { type: "pin", ids: ["a"], pinned: true },
		{ type: "replace", id: "d", text: "short" }, { type: "pruneByIndices", ids: ["c"] },
	]);
});

test("a change back leaves the plan", () => {
	const plan = merge(new Map(), three[0]!, { included: false });
	equal([...plan.keys()], ["a"]);
	equal(merge(plan, three[0]!, { included: true }).size, 0);
});

test("a plan loses what others did or removed, and names lost items", () => {
	const plan: Plan = new Map([["a", { included: false }], ["b", { pinned: true, included: false }],
		["gone", { deleted: true }]]);
	const { plan: next, lost } = rebase(plan, [item("a", 0, { included: false }), item("b", 1, { pinned: true })]);
	equal([[...next], lost], [[["b", { included: false }]], ["gone"]]);
});

test("the price of a plan is read once, soon after its last change", async () => {
	const server = served();
	const store = await openThread(server);
	await store.plan.change(["a"], { included: false });
	await store.plan.change(["b"], { included: false });
	equal(server.of("context/preview").length, 0);
	await pass(delay);
	equal(server.of("context/preview"), [{ threadId: "t", edits: [{ type: "setInclusion", ids: ["a", "b"], included: false }] }]);
	equal(price(store), 5);
	store.plan.discard();
	equal(price(store), undefined);
	await pass(delay);
	equal(server.of("context/preview").length, 1);
});

test("the price of an older plan changes nothing", async () => {
	const server = served();
	const store = await openThread(server);
	const held = server.hold("context/preview");
	await store.plan.change(["a"], { included: false });
	await pass(delay);
	await store.plan.change(["b"], { included: false });
	await pass(delay);
	await held[1]!.answer({ netPrice: { tokensSaved: 2 } });
	await held[0]!.answer({ netPrice: { tokensSaved: 1 } });
	equal(price(store), 2);
	await store.plan.change(["c"], { included: false });
	await pass(delay);
	store.plan.discard();
	await held[2]!.fail(failure("", "late"));
	equal([price(store), store.plan.previewError.value], [undefined, ""]);
});

test("a plan without a price says why", async () => {
	const server = served().on("context/preview", () => {
		throw failure("", "not possible");
	});
	const store = await openThread(server);
	await store.plan.change(["a"], { deleted: true });
	await pass(delay);
	equal([price(store), store.plan.previewError.value], [undefined, "not possible"]);
});

test("a plan outlives the page, until it is applied or discarded", async () => {
	const first = await openThread(served());
	await first.plan.change(["a"], { included: false });
	first.dispose();
	const again = await openThread(served());
	equal([...again.plan.changes.value], [["a", { included: false }]]);
	again.plan.discard();
	equal((await openThread(served())).plan.changes.value.size, 0);
});

test("a saved plan that is broken is dropped", async () => {
	localStorage.setItem("appserver.plan.t", "{");
	const store = await openThread(served());
	equal([store.plan.changes.value.size, localStorage.getItem("appserver.plan.t")], [0, null]);
});

test("a plan is applied as one edit of the revision that the page shows", async () => {
	const server = served().on("context/apply", () => ({ applied: true }));
	const store = await openThread(server);
	await store.plan.change(["a"], { included: false });
	await store.plan.change(["b"], { pinned: true });
	await store.plan.apply();
	const edits = [{ type: "setInclusion", ids: ["a"], included: false }, { type: "pin", ids: ["b"], pinned: true }];
	equal(server.of("context/apply"), [{ threadId: "t", edits, expectedRevision: 1, when: "now" }]);
	equal([store.plan.changes.value.size, store.plan.applying.value, store.notices.list.value], [0, false, []]);
	await store.plan.apply();
	equal(server.of("context/apply").length, 1); // nothing is planned any more
});

test("a plan for the end of the turn leaves the page, with a notice", async () => {
	const store = await openThread(served().on("context/apply", () => ({ applied: false })));
	await store.plan.change(["a"], { deleted: true });
	await store.plan.apply("turnEnd");
	equal([store.plan.changes.value.size, store.notices.list.value.map((n) => n.kind)], [0, ["done"]]);
});

test("a plan of an older revision is not applied: the context is read, and the plan stays without what is done", async () => {
	const server = served().on("context/apply", () => {
		throw failure("staleRevision");
	});
	const store = await openThread(server);
	await store.plan.change(["a"], { included: false });
	await store.plan.change(["c"], { included: false });
	server.on("context/getItems", () => list(2, [item("a", 0, { included: false }), item("c", 1)]));
	await store.plan.apply();
	equal([[...store.plan.changes.value.keys()], store.context.revision.value], [["c"], 2]);
	equal(store.notices.list.value.map((n) => n.kind), ["warning"]);
});

test("a plan that the server rejects stays, with the reason", async () => {
	const store = await openThread(served().on("context/apply", () => {
		throw failure("", "a turn is in progress");
	}));
	await store.plan.change(["a"], { included: false });
	await store.plan.apply();
	equal([store.plan.changes.value.size, store.notices.list.value.map((n) => n.text)], [1, ["a turn is in progress"]]);
});

test("in direct mode a change is an edit, and the plan stays as it is", async () => {
	const server = served().on("context/apply", () => ({ applied: true }));
	const store = await openThread(server);
	store.plan.setDirect(true);
	await store.plan.change(["a"], { pinned: true });
	equal([server.of("context/apply").length, store.plan.changes.value.size], [1, 0]);
	store.plan.add(["b"], { included: false });
	equal([server.of("context/apply").length, [...store.plan.changes.value.keys()]], [1, ["b"]]);
	equal((await openThread(served())).plan.direct.value, true);
});

test("what is planned stays when another change is applied at once, or while the plan is applied", async () => {
	const server = served().on("context/apply", () => ({ applied: true }));
	const store = await openThread(server);
	await store.plan.change(["a"], { included: false, pinned: true });
	store.plan.setDirect(true);
	await store.plan.change(["b"], { deleted: true });
	await store.plan.change(["a"], { pinned: true });
	equal([...store.plan.changes.value], [["a", { included: false }]]);
	const held = server.hold("context/apply");
	void store.plan.apply();
	store.plan.add(["c"], { included: false });
	await held[0]!.answer({ applied: true });
	equal([...store.plan.changes.value], [["c", { included: false }]]);
});

test("edits of others leave the plan, and items that are gone are named", async () => {
	const store = await openThread(served());
	await store.plan.change(["a"], { included: false });
	await store.plan.change(["b"], { included: false });
	store.apply(notification("ContextItems", {
		full: true, items: [item("b", 0), item("c", 1)], removedIds: [], total: 2, revision: 2,
	}));
	await settle();
	equal([...store.plan.changes.value.keys()], ["b"]);
	equal(store.notices.list.value.map((n) => n.text), ["The plan lost 1 item(s) that are not in the list any more: a."]);
});

test("a saved plan waits for the context: it loses nothing before the list is there", async () => {
	localStorage.setItem("appserver.plan.t", JSON.stringify([["a", { included: false }]]));
	const server = served();
	const held = server.hold("context/getItems");
	const store = new ThreadStore("t", server.caller);
	void store.open();
	await settle();
	equal([store.plan.changes.value.size, store.notices.list.value.length], [1, 0]);
	await held[0]!.answer(list(1, [item("b", 0)]));
	equal([store.plan.changes.value.size, store.notices.list.value.length], [0, 1]);
});
