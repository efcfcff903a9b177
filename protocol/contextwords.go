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
		return "its call is not sent"
	case NotSentAnswerNotSent:
		return "its answer was cut or is not sent"
	case NotSentNotTakenBack:
		return "its provider takes none back"
	case NotSentRefused:
		return "its provider could not read it"
	case NotSentReplaced:
		return "encrypted, with a replaced text"
	case NotSentOtherModel:
		return "of another model"
	case NotSentOtherProvider:
		return "of another provider"
	case NotSentOtherAPI:
		return "not for this API"
	case NotSentCompactionSent:
		return "a compaction is sent instead"
	case NotSentOriginalsSent:
		return "its originals are sent"
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
