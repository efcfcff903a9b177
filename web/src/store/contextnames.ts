// Names and reasons of context items as people read them.

import type { ContextCategory } from "../wire/types.ts";

/** categoryNames are the categories of items as people read them. */
export const categoryNames: Record<ContextCategory, string> = {
	userInstructions: "Instructions",
	environmentContext: "Environment",
	developerMessage: "Notices",
	userMessage: "You",
	assistantMessage: "Agent",
	reasoning: "Reasoning",
	toolCall: "Tool calls",
	toolOutput: "Tool outputs",
	toolDefinition: "Tool definitions",
	summary: "Summaries",
	other: "Other",
};

/** reasons explain why an item is not in the next request. */
export const reasons: Record<string, string> = {
	excluded: "You excluded it.",
	callNotSent: "Its tool call is not sent.",
	answerNotSent: "It is reasoning, and the answer that it belongs to is not sent.",
	notTakenBack: "The provider does not accept reasoning back.",
	refused: "It is encrypted, and its provider could not read it.",
	replaced: "It is encrypted reasoning with a replaced text.",
	otherModel: "It is reasoning of another model.",
	otherProvider: "Only another provider can read it.",
	otherApi: "The API in use cannot send it.",
	compactionSent: "An encrypted compaction replaces it.",
	originalsSent: "The items that it summarizes are sent.",
	unreadable: "It cannot be decoded.",
};
