package protocol

// ContextPreviewResponse is the effect of edits on the next request.
type ContextPreviewResponse struct {
	// Before is the cost without the edits.
	Before ContextUsage `json:"before"`
	// After is the cost with the edits.
	After    ContextUsage `json:"after"`
	Warnings []string     `json:"warnings"`
	// WarningDetails has the same warnings with codes.
	WarningDetails []ContextWarning `json:"warningDetails"`
	// Changes are the items whose content in the next request differs.
	Changes  []ContextSentChange `json:"changes"`
	Cache    ContextCacheEffect  `json:"cache"`
	NetPrice ContextNetPrice     `json:"netPrice"`
}

// ContextWarning is a warning of a preview.
type ContextWarning struct {
	// Code is for programs.
	Code ContextWarningCode `json:"code"`
	// Text is a sentence for people.
	Text string `json:"text"`
}

// ContextWarningCode is the code of a ContextWarning.
type ContextWarningCode string

// The codes. The Lost codes are for items that the next request would not have any more.
const (
	WarningUnknownTargets    ContextWarningCode = "unknownTargets"
	WarningChangesNothing    ContextWarningCode = "changesNothing"
	WarningInstructionsLost  ContextWarningCode = "userInstructionsLost"
	WarningEnvironmentLost   ContextWarningCode = "environmentContextLost"
	WarningUserMessagesLost  ContextWarningCode = "userMessagesLost"
	WarningSummaryLost       ContextWarningCode = "summaryLost"
	WarningPinnedLost        ContextWarningCode = "pinnedLost"
	WarningCachedPrefixShort ContextWarningCode = "cachedPrefixShorter"
)

// ContextWarningCodes returns all codes.
func ContextWarningCodes() []ContextWarningCode {
	return []ContextWarningCode{
		WarningUnknownTargets, WarningChangesNothing, WarningInstructionsLost, WarningEnvironmentLost,
		WarningUserMessagesLost, WarningSummaryLost, WarningPinnedLost, WarningCachedPrefixShort,
	}
}

// ContextSentChange is the change of an item in the next request.
type ContextSentChange struct {
	ID string `json:"id"`
	// Was is the state without the edits.
	Was ContextSent `json:"was"`
	// Is is the state with the edits. It equals Was if only the text differs.
	Is ContextSent `json:"is"`
}

// ContextSent is the form of an item in a request.
type ContextSent string

// The item itself, the item with another text, a placeholder, or nothing.
const (
	SentItself      ContextSent = "sent"
	SentReplaced    ContextSent = "replaced"
	SentPlaceholder ContextSent = "placeholder"
	SentNothing     ContextSent = "notSent"
)

// ContextSentStates returns all values.
func ContextSentStates() []ContextSent {
	return []ContextSent{SentItself, SentReplaced, SentPlaceholder, SentNothing}
}

// ContextCacheEffect is the effect of edits on the provider's cache.
type ContextCacheEffect struct {
	// FirstChangedID is the first item that differs in the next request, or null.
	FirstChangedID *string `json:"firstChangedId"`
	// TokensBehind is the cost of the items of the next request from there on, in tokens.
	TokensBehind int64 `json:"tokensBehind"`
}

// ContextNetPrice is the price of edits.
type ContextNetPrice struct {
	// TokensSaved is the number of tokens by which the next request would be smaller.
	TokensSaved int64 `json:"tokensSaved"`
	// TokensLeavingCache is the number of tokens that the provider would have to read again.
	TokensLeavingCache int64 `json:"tokensLeavingCache"`
	// RequestsToPayBack is the number of requests after which the edits are cheaper than no edit,
	// or null if they never are.
	RequestsToPayBack *int64 `json:"requestsToPayBack"`
	// CachedPriceRatio is the price of a cached token, relative to an uncached one.
	CachedPriceRatio float64 `json:"cachedPriceRatio"`
}
