import { limitOf, staleOutputs } from "../src/store/limit.ts";
import { editsOf } from "../src/store/rerun.ts";
import { groupsOf } from "../src/store/suggestions.ts";
import { titleOfEdit, undoTarget } from "../src/store/edits.ts";
import type { ContextEdit, ContextSuggestion, SuggestionReason } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

test("the limit is the size that is compacted, or the window if it comes first or nothing is compacted", () => {
	equal(limitOf(1000, { limitTokens: null, limitShare: 0.9 }), { tokens: 900, compacts: true });
	equal(limitOf(1000, { limitTokens: 500, limitShare: 0.9 }), { tokens: 500, compacts: true });
	equal(limitOf(1000, { limitTokens: 0, limitShare: 0.9 }), { tokens: 1000, compacts: false });
	equal(limitOf(1000, { limitTokens: 5000, limitShare: 0.9 }), { tokens: 900, compacts: true });
});

test("the five biggest outputs that suggestions name are stale, and no other item", () => {
	const items = [10, 70, 30, 50, 20, 60, 40].map((tokens) =>
		({ id: `r${tokens}`, category: "toolOutput", tokens, inPrompt: tokens !== 60 }));
	const others = [{ id: "x", category: "reasoning", tokens: 99, inPrompt: true }, { id: "y", category: "toolOutput", tokens: 99, inPrompt: true }];
	const suggestions = [{ itemIds: items.map((i) => i.id) }, { itemIds: ["x"] }];
	equal(staleOutputs(suggestions, [...items, ...others]).map((i) => i.id), ["r70", "r50", "r40", "r30", "r20"]);
});

test("suggestions with one reason are one group, at the place of the best one", () => {
	const make = (id: string, reason: SuggestionReason) => ({ id, reason }) as ContextSuggestion;
	const groups = groupsOf([make("a", "staleRead"), make("b", "oldOutput"), make("c", "staleRead")]);
	equal(groups.map((g) => [g.reason, g.list.map((s) => s.id)]), [["staleRead", ["a", "c"]], ["oldOutput", ["b"]]]);
});

const edit = (revision: number, op: string, ids: string[], undone = false): ContextEdit => ({
	revision, op, at: 0, count: ids.length, savedTokens: 0, undone,
	items: ids.map((id) => ({ id, was: "included", is: "excluded" })),
} as unknown as ContextEdit);

test("an edit of one item is named by it, others by their number", () => {
	equal(titleOfEdit(edit(1, "apply", ["r5"])), { name: "Exclude", itemId: "r5", count: "" });
	equal(titleOfEdit(edit(1, "apply", ["r5", "r6"])), { name: "Several edits", itemId: null, count: "2 items" });
	equal(titleOfEdit(edit(1, "trim", ["r5"])), { name: "Trim", itemId: null, count: "1 item" });
});

test("an undo goes to the edit in force before, to the start, or nowhere behind a revert", () => {
	equal(undoTarget([edit(1, "exclude", ["a"]), edit(2, "pin", ["a"]), edit(3, "pin", ["b"], true)])?.revision, 1);
	equal(undoTarget([edit(4, "exclude", ["a"])])?.revision, 0);
	equal(undoTarget([edit(4, "exclude", ["a"]), edit(5, "revert", ["a"])]), null);
	equal(undoTarget([]), null);
});

test("a run leaves items out before it replaces others", () => {
	equal(editsOf({ excluded: new Set(["a"]), replaced: new Map([["a", "x"], ["b", "y"]]) }),
		[{ type: "setInclusion", ids: ["a"], included: false }, { type: "replace", id: "b", text: "y" }]);
	equal(editsOf({ excluded: new Set(), replaced: new Map() }), []);
});
