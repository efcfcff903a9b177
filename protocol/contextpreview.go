package protocol

// ContextPreviewResponse is the cost of the context without and with the edits, and warnings about
// them. WarningDetails are the same warnings with codes. Changes are the items of which the next
// request would have something else.
type ContextPreviewResponse struct {
	Before         ContextUsage        `json:"before"`
	After          ContextUsage        `json:"after"`
	Warnings       []string            `json:"warnings"`
	WarningDetails []ContextWarning    `json:"warningDetails"`
	Changes        []ContextSentChange `json:"changes"`
	Cache          ContextCacheEffect  `json:"cache"`
	NetPrice       ContextNetPrice     `json:"netPrice"`
}

// ContextWarning is a warning of a preview: a code for programs and a sentence for people.
type ContextWarning struct {
	Code ContextWarningCode `json:"code"`
	Text string             `json:"text"`
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

// ContextWarningCodes are all codes.
func ContextWarningCodes() []ContextWarningCode {
	return []ContextWarningCode{
		WarningUnknownTargets, WarningChangesNothing, WarningInstructionsLost, WarningEnvironmentLost,
		WarningUserMessagesLost, WarningSummaryLost, WarningPinnedLost, WarningCachedPrefixShort,
	}
}

// ContextSentChange is what the next request has of an item without and with the edits. Both are the
// same if only its text differs.
type ContextSentChange struct {
	ID  string      `json:"id"`
	Was ContextSent `json:"was"`
	Is  ContextSent `json:"is"`
}

// ContextSent is what a request has of an item.
type ContextSent string

// The item itself, the item with another text, a placeholder, or nothing.
const (
	SentItself      ContextSent = "sent"
	SentReplaced    ContextSent = "replaced"
	SentPlaceholder ContextSent = "placeholder"
	SentNothing     ContextSent = "notSent"
)

// ContextSentStates are all values.
func ContextSentStates() []ContextSent {
	return []ContextSent{SentItself, SentReplaced, SentPlaceholder, SentNothing}
}

// ContextCacheEffect is the first item from which on the next request differs, or null, and the tokens
// of the items that it has from there on.
type ContextCacheEffect struct {
	FirstChangedID *string `json:"firstChangedId"`
	TokensBehind   int64   `json:"tokensBehind"`
}

// ContextNetPrice is the price of edits. TokensSaved is how much smaller the next request would be.
// TokensLeavingCache are tokens that the provider would have to read anew. RequestsToPayBack is how
// many requests it takes until the edits are cheaper than none, or null if they never are.
// CachedPriceRatio is the price of a cached token over that of another one.
type ContextNetPrice struct {
	TokensSaved        int64   `json:"tokensSaved"`
	TokensLeavingCache int64   `json:"tokensLeavingCache"`
	RequestsToPayBack  *int64  `json:"requestsToPayBack"`
	CachedPriceRatio   float64 `json:"cachedPriceRatio"`
}
