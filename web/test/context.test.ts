import { applyDelta, merge, operationsOf, rebase, type Plan } from "../src/store/context.ts";
import type { ContextItem, ContextItemsNotification } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

function item(id: string, index: number, change: Partial<ContextItem> = {}): ContextItem {
	return {
		index, id, category: "userMessage", preview: id, included: true, inPrompt: true, pinned: false, replaced: false,
		tokens: 1, bytes: 1, turnId: null, itemId: null, callId: null, toolName: null, ...change,
	};
}

function delta(change: Partial<ContextItemsNotification>): ContextItemsNotification {
	return { full: false, items: [], removedIds: [], total: 0, ...change } as ContextItemsNotification;
}

const list = [item("a", 0), item("b", 1), item("c", 2)];

test("a delta removes, changes and inserts items, and numbers them", () => {
	const next = applyDelta(list, delta({
		removedIds: ["a"], items: [item("x", 1), item("c", 2, { included: false })], total: 3,
	}))!;
	equal(next.map((i) => [i.id, i.index, i.included]), [["b", 0, true], ["x", 1, true], ["c", 2, false]]);
});

test("a delta that does not fit asks for the whole list", () => {
	equal(applyDelta(list, delta({ removedIds: ["a"], total: 3 })), null);
	equal(applyDelta([], delta({ full: true, items: list, total: 3 }))!.length, 3);
});

test("a plan becomes one edit of each kind", () => {
	const plan: Plan = new Map([
		["a", { included: false, pinned: true }], ["b", { included: false }], ["c", { deleted: true }], ["d", { text: "short" }],
	]);
	equal(operationsOf(plan), [
		{ type: "setInclusion", ids: ["a", "b"], included: false }, { type: "pin", ids: ["a"], pinned: true },
		{ type: "replace", id: "d", text: "short" }, { type: "pruneByIndices", ids: ["c"] },
	]);
});

test("a change back leaves the plan", () => {
	const plan = merge(new Map(), list[0]!, { included: false });
	equal([...plan.keys()], ["a"]);
	equal(merge(plan, list[0]!, { included: true }).size, 0);
});

test("a plan loses what others did or removed, and names lost items", () => {
	const plan: Plan = new Map([["a", { included: false }], ["b", { pinned: true, included: false }], ["gone", { deleted: true }]]);
	const { plan: next, lost } = rebase(plan, [item("a", 0, { included: false }), item("b", 1, { pinned: true })]);
	equal([[...next], lost], [[["b", { included: false }]], ["gone"]]);
});
