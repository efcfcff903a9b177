import { signal } from "@preact/signals";
import type { Requests } from "../src/store/requests.ts";
import { Suggestions } from "../src/store/suggestions.ts";
import { CallError } from "../src/wire/connection.ts";
import type { ContextNetPrice, ContextSuggestion } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";

const price: ContextNetPrice = { tokensSaved: 10, tokensLeavingCache: 5, requestsToPayBack: 5, cachedPriceRatio: 0.1 };

function suggestion(itemId: string): ContextSuggestion {
	return {
		id: `staleRead:${itemId}`, reason: "staleRead", text: "", risk: "low", itemIds: [itemId],
		edits: [{ type: "setInclusion", ids: [itemId], included: false }], netPrice: price, selected: true,
	};
}

/** make returns suggestions of a thread whose requests are recorded. The server suggests item a of revision 2. */
function make(apply: () => unknown) {
	const calls: [string, unknown][] = [];
	const notices: string[] = [];
	const revision = signal(0);
	const context = { revision, read: async () => void (revision.value = 2) };
	const requests = {
		threadId: "t",
		call: async (method: string, params: unknown) => {
			calls.push([method, params]);
			if (method === "context/apply") return apply();
			return { revision: 2, suggestions: [suggestion("a")], promptTokens: 100, expectedRequests: 4, netPrice: price, goalReached: null };
		},
	};
	const report = () => void notices.push("reported");
	const suggestions = new Suggestions(requests as unknown as Requests, context, { report });
	return { calls, notices, context, suggestions, requests };
}

const notification = { threadId: "t", revision: 1, suggestions: [suggestion("a"), suggestion("b")], netPrice: price };

test("suggestions of an older revision are not applied: new ones are shown, and the old ones are named", async () => {
	let fails = true;
	const { calls, notices, suggestions } = make(() => {
		if (fails) throw new CallError(-32600, "stale", "staleRevision", {});
	});
	suggestions.take(notification);
	await suggestions.apply([suggestion("b")]);
	equal(calls.map(([method]) => method), ["context/apply", "context/suggest"]);
	equal((calls[0]![1] as { expectedRevision: number }).expectedRevision, 1);
	equal([notices, [...suggestions.refused.value]], [[], ["staleRead:b"]]);
	equal([suggestions.answer.value?.revision, [...suggestions.byItem.value.keys()]], [2, ["a"]]);
	fails = false;
	await suggestions.apply([suggestion("a")]);
	equal([(calls[2]![1] as { expectedRevision: number }).expectedRevision, suggestions.refused.value.size], [2, 0]);
});

test("suggestions are dropped if new ones cannot be read", async () => {
	const { suggestions, requests } = make(() => ({}));
	suggestions.take(notification);
	requests.call = () => Promise.reject(new Error("no such thread"));
	await suggestions.refresh();
	equal([suggestions.failure.value, suggestions.answer.value, suggestions.loading.value],
		["no such thread", null, false]);
});

test("a notification marks the items of its suggestions", () => {
	const { suggestions } = make(() => ({}));
	suggestions.take(notification);
	equal([...suggestions.byItem.value.keys()], ["a", "b"]);
	suggestions.pointed.value = "staleRead:b";
	equal([...suggestions.highlighted.value], ["b"]);
});

test("suggestions of another revision are dropped while they are closed, and requested again while they are open", async () => {
	const { calls, context, suggestions } = make(() => ({}));
	suggestions.take(notification);
	context.revision.value = 1;
	const stop = suggestions.start();
	context.revision.value = 2;
	equal([suggestions.answer.value, calls.length], [null, 0]);
	suggestions.take(notification);
	suggestions.open.value = true;
	context.revision.value = 3;
	equal(calls.map(([method]) => method), ["context/suggest"]);
	stop();
});

test("a goal is a share of the next request, or a number of tokens, and changes with its unit", async () => {
	const { calls, suggestions } = make(() => ({}));
	suggestions.goal.value = 30;
	await suggestions.refresh();
	equal(calls[0], ["context/suggest", { threadId: "t", goal: { share: 0.3 } }]);
	suggestions.setGoalUnit("tokens");
	equal(suggestions.goal.value, 70); // of 100
	await suggestions.refresh();
	equal(calls[1], ["context/suggest", { threadId: "t", goal: { tokens: 70 } }]);
	suggestions.setGoalUnit("percent");
	equal(suggestions.goal.value, 30);
	suggestions.goal.value = null;
	await suggestions.refresh();
	equal(calls[2], ["context/suggest", { threadId: "t", goal: null }]);
});
