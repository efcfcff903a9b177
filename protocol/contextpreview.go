package protocol

// ContextPreviewParams requests the effect of edits, made one after the other, or of another change. It changes
// nothing.
type ContextPreviewParams struct {
	ThreadID string             `json:"threadId"`
	Edits    []ContextOperation `json:"edits,omitempty"`
	PreviewedChange
}

// PreviewedChange is a change of the context that is no list of edits. At most one member is set.
type PreviewedChange struct {
	// Revision is that of context/goto. An undo goes to the revision of the edit before.
	Revision *int64 `json:"revision,omitempty"`
	// Restore is set for context/restore.
	Restore bool `json:"restore,omitempty"`
	// Trim has the params of thread/context/trim.
	Trim *PreviewedTrim `json:"trim,omitempty"`
	// Compact has the params of thread/compact/propose. The thread must be loaded.
	Compact *PreviewedCompaction `json:"compact,omitempty"`
}

// Check returns an error if the params name several changes.
func (p *ContextPreviewParams) Check() error {
	n := 0
	for _, set := range []bool{p.Edits != nil, p.Revision != nil, p.Restore, p.Trim != nil, p.Compact != nil} {
		if set {
			n++
		}
	}
	if n > 1 {
		return InvalidParams("edits", "name one of `edits`, `revision`, `restore`, `trim` and `compact` at most")
	}
	return nil
}

// PreviewedTrim has the params of a trim.
type PreviewedTrim struct {
	// KeepLastNTurns is the number of last turns to keep. The default is 0.
	KeepLastNTurns *uint32 `json:"keepLastNTurns,omitempty"`
	// Summary replaces the removed turns.
	Summary *string `json:"summary,omitempty"`
}

// Turns returns the number of turns to keep.
func (t *PreviewedTrim) Turns() (n uint32) {
	Override(&n, t.KeepLastNTurns)
	return n
}

// PreviewedCompaction has the params of the draft of a compaction.
type PreviewedCompaction struct {
	// Strategy is by default the configured one.
	Strategy *string `json:"strategy,omitempty" oneof:"summary userMessages mask local"`
	// Range selects the turns to replace, as in thread/compact/propose.
	Range *PruneRange `json:"range,omitempty"`
}

// PreviewedSummary is the summary that a trim or a compaction adds.
type PreviewedSummary struct {
	// Tokens is its cost, which After has.
	Tokens int64 `json:"tokens"`
	// AtMost is set if the model has yet to write the summary. Then Tokens is the greatest cost.
	AtMost bool `json:"atMost"`
}

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
	// Summary is the summary of a previewed trim or compaction that adds one.
	Summary *PreviewedSummary `json:"summary,omitempty"`
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
