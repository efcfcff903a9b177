package protocol

// Words returns the category as people read it, for one item. All front ends use these words.
func (c ContextCategory) Words() string {
	switch c {
	case CategoryUserInstructions:
		return "instructions"
	case CategoryEnvironmentContext:
		return "environment"
	case CategoryDeveloperMessage:
		return "notice"
	case CategoryUserMessage:
		return "user"
	case CategoryAssistantMessage:
		return "agent"
	case CategoryToolCall:
		return "tool call"
	case CategoryToolOutput:
		return "tool output"
	case CategoryToolDefinition:
		return "tool definition"
	case CategoryReasoning, CategorySummary, CategoryOther:
	}
	return string(c)
}

// Words returns the reason as people read it behind "not sent: ".
func (r NotSentReason) Words() string {
	switch r {
	case NotSentCallNotSent:
		return "call not sent"
	case NotSentAnswerNotSent:
		return "no answer"
	case NotSentNotTakenBack:
		return "not accepted back"
	case NotSentRefused:
		return "refused"
	case NotSentReplaced:
		return "text replaced"
	case NotSentOtherModel:
		return "other model"
	case NotSentOtherProvider:
		return "other provider"
	case NotSentOtherAPI:
		return "other API"
	case NotSentCompactionSent:
		return "compacted"
	case NotSentOriginalsSent:
		return "originals sent"
	case NotSentExcluded, NotSentUnreadable:
	}
	return string(r)
}

// SentState returns the state of the item as people read it: "", "excluded", or "not sent: " and the reason.
func (i *ContextItem) SentState() string {
	switch {
	case !i.Included:
		return string(NotSentExcluded)
	case i.InPrompt:
		return ""
	case i.NotSentReason == "":
		return "not sent"
	}
	return "not sent: " + i.NotSentReason.Words()
}
