package protocol

// ContextSuggestParams asks which items the next requests can do without. With a Goal, the response
// selects as many suggestions as the goal needs.
type ContextSuggestParams struct {
	ThreadID string              `json:"threadId"`
	Goal     *ContextSuggestGoal `json:"goal,omitempty"`
}

// ContextSuggestGoal is the size of the next request: a number of tokens, or the share of its tokens that
// go. Exactly one is there.
type ContextSuggestGoal struct {
	Tokens *int64   `json:"tokens,omitempty"`
	Share  *float64 `json:"share,omitempty"`
}

// ContextSuggestResponse has the suggestions, the best net price first. ExpectedRequests is the number of
// further requests that the order assumes. NetPrice is the price of all selected suggestions together.
// GoalReached is null without a goal.
type ContextSuggestResponse struct {
	Revision         int64               `json:"revision"`
	Suggestions      []ContextSuggestion `json:"suggestions"`
	PromptTokens     int64               `json:"promptTokens"`
	ExpectedRequests int64               `json:"expectedRequests"`
	NetPrice         ContextNetPrice     `json:"netPrice"`
	GoalReached      *bool               `json:"goalReached"`
}

// ContextSuggestion is a group of items with one reason. Edits are for context/apply. Selected is set if
// the goal needs it, or without a goal if it is one of those that together save most within the expected
// requests.
type ContextSuggestion struct {
	ID       string             `json:"id"`
	Reason   SuggestionReason   `json:"reason"`
	Text     string             `json:"text"`
	Risk     SuggestionRisk     `json:"risk"`
	ItemIDs  []string           `json:"itemIds"`
	Edits    []ContextOperation `json:"edits"`
	NetPrice ContextNetPrice    `json:"netPrice"`
	Selected bool               `json:"selected"`
}

// SuggestionReason is why requests can do without items.
type SuggestionReason string

// The reasons.
const (
	SuggestSupersededRead  SuggestionReason = "supersededRead"
	SuggestStaleRead       SuggestionReason = "staleRead"
	SuggestDuplicateOutput SuggestionReason = "duplicateOutput"
	SuggestFailedAttempt   SuggestionReason = "failedAttempt"
	SuggestRepeatedCommand SuggestionReason = "repeatedCommand"
	SuggestUncitedOutput   SuggestionReason = "uncitedOutput"
	SuggestOldOutput       SuggestionReason = "oldOutput"
	SuggestDescribedImage  SuggestionReason = "describedImage"
	SuggestOldReasoning    SuggestionReason = "oldReasoning"
)

// SuggestionReasons are all reasons.
func SuggestionReasons() []SuggestionReason {
	return []SuggestionReason{SuggestSupersededRead, SuggestStaleRead, SuggestDuplicateOutput, SuggestFailedAttempt,
		SuggestRepeatedCommand, SuggestUncitedOutput, SuggestOldOutput,
		SuggestDescribedImage, SuggestOldReasoning}
}

// SuggestionRisk is how probable it is that the model needs an item again. Low is for items whose content
// is in a later item, medium for others.
type SuggestionRisk string

// The risks.
const (
	RiskLow    SuggestionRisk = "low"
	RiskMedium SuggestionRisk = "medium"
)

// SuggestionRisks are all risks.
func SuggestionRisks() []SuggestionRisk { return []SuggestionRisk{RiskLow, RiskMedium} }

// ContextSuggestionsNotification has the suggestions at the end of a turn, if [context.economy] has the mode
// "suggest" and some of them pay.
type ContextSuggestionsNotification struct {
	ThreadID    string              `json:"threadId"`
	Revision    int64               `json:"revision"`
	Suggestions []ContextSuggestion `json:"suggestions"`
	NetPrice    ContextNetPrice     `json:"netPrice"`
}

// NotificationMethod is ContextSuggestions.
func (ContextSuggestionsNotification) NotificationMethod() string { return "ContextSuggestions" }

// The modes of [context.economy].
const (
	EconomyOff     = "off"
	EconomySuggest = "suggest"
	EconomyAuto    = "auto"
)
