package protocol

// ContextSuggestParams requests suggestions: items that the next requests can do without.
type ContextSuggestParams struct {
	ThreadID string `json:"threadId"`
	// Goal is the wanted size of the next request. The response then selects as many suggestions as
	// the goal needs.
	Goal *ContextSuggestGoal `json:"goal,omitempty"`
}

// ContextSuggestGoal is the wanted size of the next request. Exactly one member is required.
type ContextSuggestGoal struct {
	// Tokens is the maximum size of the next request.
	Tokens *int64 `json:"tokens,omitempty"`
	// Share is the part of the next request's tokens to remove, above 0 and up to 1.
	Share *float64 `json:"share,omitempty"`
}

// ContextSuggestResponse has the suggestions, the best net price first.
type ContextSuggestResponse struct {
	Revision     int64               `json:"revision"`
	Suggestions  []ContextSuggestion `json:"suggestions"`
	PromptTokens int64               `json:"promptTokens"`
	// ExpectedRequests is the number of further requests on which the order is based.
	ExpectedRequests int64 `json:"expectedRequests"`
	// NetPrice is the price of all selected suggestions together.
	NetPrice ContextNetPrice `json:"netPrice"`
	// GoalReached is null if the request had no goal.
	GoalReached *bool `json:"goalReached"`
}

// ContextSuggestion is a group of items with one reason.
type ContextSuggestion struct {
	ID      string           `json:"id"`
	Reason  SuggestionReason `json:"reason"`
	Text    string           `json:"text"`
	Risk    SuggestionRisk   `json:"risk"`
	ItemIDs []string         `json:"itemIds"`
	// Edits are the edits of the suggestion, for context/apply.
	Edits    []ContextOperation `json:"edits"`
	NetPrice ContextNetPrice    `json:"netPrice"`
	// Selected is set if the goal needs the suggestion. Without a goal, it is set for the
	// suggestions that together save most within the expected requests.
	Selected bool `json:"selected"`
}

// SuggestionReason is the reason for which requests can do without items.
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

// SuggestionReasons returns all reasons.
func SuggestionReasons() []SuggestionReason {
	return []SuggestionReason{SuggestSupersededRead, SuggestStaleRead, SuggestDuplicateOutput, SuggestFailedAttempt,
		SuggestRepeatedCommand, SuggestUncitedOutput, SuggestOldOutput,
		SuggestDescribedImage, SuggestOldReasoning}
}

// SuggestionRisk is the probability that the model needs an item again: low if a later item has the
// content, medium otherwise.
type SuggestionRisk string

// The risks.
const (
	RiskLow    SuggestionRisk = "low"
	RiskMedium SuggestionRisk = "medium"
)

// SuggestionRisks returns all risks.
func SuggestionRisks() []SuggestionRisk { return []SuggestionRisk{RiskLow, RiskMedium} }

// ContextSuggestionsNotification has suggestions at the end of a turn, if [context.economy] has the
// mode "suggest" and some of them pay.
type ContextSuggestionsNotification struct {
	ThreadID    string              `json:"threadId"`
	Revision    int64               `json:"revision"`
	Suggestions []ContextSuggestion `json:"suggestions"`
	NetPrice    ContextNetPrice     `json:"netPrice"`
}

// NotificationMethod returns "ContextSuggestions".
func (ContextSuggestionsNotification) NotificationMethod() string { return "ContextSuggestions" }

// The modes of [context.economy].
const (
	EconomyOff     = "off"
	EconomySuggest = "suggest"
	EconomyAuto    = "auto"
)
