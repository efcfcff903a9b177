// Words for context items. They are those of the terminal and of docs/context.md; a test compares them.

import type { ContextCategory, ContextItem, NotSentReason } from "./types.ts";

/** categoryWords are the categories of items as people read them. */
export const categoryWords: Record<ContextCategory, string> = {
	userInstructions: "instructions",
	environmentContext: "environment",
	developerMessage: "notice",
	userMessage: "user",
	assistantMessage: "agent",
	reasoning: "reasoning",
	toolCall: "tool call",
	toolOutput: "tool output",
	toolDefinition: "tool definition",
	summary: "summary",
	other: "other",
};

/** reasonWords say why an item is not in the next request. */
export const reasonWords: Record<NotSentReason, string> = {
	excluded: "excluded",
	callNotSent: "call not sent",
	answerNotSent: "no answer",
	notTakenBack: "not accepted back",
	refused: "refused",
	replaced: "text replaced",
	otherModel: "other model",
	otherProvider: "other provider",
	otherApi: "other API",
	compactionSent: "compacted",
	originalsSent: "originals sent",
	unreadable: "unreadable",
};

/** categoryName returns the words of a category as a label. */
export const categoryName = (category: ContextCategory): string => {
	const words = categoryWords[category] ?? category;
	return words[0]!.toUpperCase() + words.slice(1);
};

/** sentState returns "", "excluded", or "not sent" with the reason. */
export function sentState(item: ContextItem): string {
	if (!item.included) return "excluded";
	if (item.inPrompt) return "";
	return item.notSentReason ? `not sent: ${reasonWords[item.notSentReason]}` : "not sent";
}

/** lineOf returns the longest preview of an item. */
export const lineOf = (item: ContextItem): string => item.longPreview ?? item.preview;
