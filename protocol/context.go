package protocol

// ContextItem is one entry of the model's input history. Index is its position in the list. ID never
// changes: r<ordinal of its line>, or r<ordinal>.<k> within a compacted line. Preview is one line of
// at most 80 graphemes. Included is the user's choice. InPrompt reports whether the next request has
// the item: the output of an excluded call is not sent either, nor an item that only another model,
// provider or API can read. NotSentReason is the reason if InPrompt is false, and absent otherwise.
// Superseded marks instructions from AGENTS.md files that a later item replaces or ends; the model
// still receives them. Tokens and Bytes are the cost of the item when it is sent. TurnID, ItemID (the
// ThreadItem that shows it), CallID and ToolName are null if the item has none.
type ContextItem struct {
	Index         int             `json:"index"`
	ID            string          `json:"id"`
	Category      ContextCategory `json:"category"`
	Preview       string          `json:"preview"`
	Included      bool            `json:"included"`
	InPrompt      bool            `json:"inPrompt"`
	NotSentReason NotSentReason   `json:"notSentReason,omitempty"`
	ContextItemMarks
	Superseded bool    `json:"superseded,omitempty"`
	Tokens     int64   `json:"tokens"`
	Bytes      int64   `json:"bytes"`
	TurnID     *string `json:"turnId"`
	ItemID     *string `json:"itemId"`
	CallID     *string `json:"callId"`
	ToolName   *string `json:"toolName"`
}

// NotSentReason is why a ContextItem is not in the prompt.
type NotSentReason string

// The reasons.
const (
	// NotSentExcluded is for an item that the user took out.
	NotSentExcluded NotSentReason = "excluded"
	// NotSentCallNotSent is for an output whose call is not sent, or that has none.
	NotSentCallNotSent NotSentReason = "callNotSent"
	// NotSentAnswerNotSent is for reasoning whose text or call is not sent, or never came.
	NotSentAnswerNotSent NotSentReason = "answerNotSent"
	// NotSentNotTakenBack is for reasoning whose provider does not take it back.
	NotSentNotTakenBack NotSentReason = "notTakenBack"
	// NotSentRefused is for encrypted content that its provider could not read.
	NotSentRefused NotSentReason = "refused"
	// NotSentReplaced is for encrypted reasoning whose text was replaced.
	NotSentReplaced NotSentReason = "replaced"
	// The item is of another model, another provider, or another API than the next request's.
	NotSentOtherModel    NotSentReason = "otherModel"
	NotSentOtherProvider NotSentReason = "otherProvider"
	NotSentOtherAPI      NotSentReason = "otherApi"
	// NotSentCompactionSent is the reason for items that an encrypted compaction replaces.
	// NotSentOriginalsSent is the reason for items that came with an encrypted compaction that is not
	// sent.
	NotSentCompactionSent NotSentReason = "compactionSent"
	NotSentOriginalsSent  NotSentReason = "originalsSent"
	// NotSentUnreadable is for an item of an unknown type, or one that cannot be decoded.
	NotSentUnreadable NotSentReason = "unreadable"
)

// NotSentReasons are all reasons.
func NotSentReasons() []NotSentReason {
	return []NotSentReason{
		NotSentExcluded, NotSentCallNotSent, NotSentAnswerNotSent, NotSentNotTakenBack, NotSentRefused, NotSentReplaced,
		NotSentOtherModel, NotSentOtherProvider, NotSentOtherAPI,
		NotSentCompactionSent, NotSentOriginalsSent, NotSentUnreadable,
	}
}

// ContextCategory is the kind of a ContextItem. In params snake_case and PascalCase are
// accepted too.
type ContextCategory string

// The categories, in the order in which they are shown.
const (
	CategoryUserInstructions   ContextCategory = "userInstructions"
	CategoryEnvironmentContext ContextCategory = "environmentContext"
	CategoryDeveloperMessage   ContextCategory = "developerMessage"
	CategoryUserMessage        ContextCategory = "userMessage"
	CategoryAssistantMessage   ContextCategory = "assistantMessage"
	CategoryReasoning          ContextCategory = "reasoning"
	CategoryToolCall           ContextCategory = "toolCall"
	CategoryToolOutput         ContextCategory = "toolOutput"
	CategoryToolDefinition     ContextCategory = "toolDefinition"
	CategorySummary            ContextCategory = "summary"
	CategoryOther              ContextCategory = "other"
)

// ContextCategories are all categories.
func ContextCategories() []ContextCategory {
	return []ContextCategory{
		CategoryUserInstructions, CategoryEnvironmentContext, CategoryDeveloperMessage, CategoryUserMessage,
		CategoryAssistantMessage,
		CategoryReasoning, CategoryToolCall, CategoryToolOutput, CategoryToolDefinition, CategorySummary, CategoryOther,
	}
}

// ContextCategoryOf is the category that a word means in any of the three spellings.
func ContextCategoryOf(word string) (c ContextCategory, known bool) {
	word, known = respell(word, categoryWords())
	return ContextCategory(word), known
}

func categoryWords() (words []string) {
	for _, c := range ContextCategories() {
		words = append(words, string(c))
	}
	return words
}

// UnmarshalJSON accepts the categories in any of the three spellings.
func (c *ContextCategory) UnmarshalJSON(b []byte) error {
	word, err := decodeSpelled(b, categoryWords())
	*c = ContextCategory(word)
	return err
}

// ContextUsage is the cost of a thread's context. The totals count all items. The included values
// count the items of the next request, with placeholders. PromptTokens is the cost of the next
// request: system prompt, tools, and the listed items. The window is null if it is unknown.
type ContextUsage struct {
	TotalTokens        int64           `json:"totalTokens"`
	TotalBytes         int64           `json:"totalBytes"`
	IncludedTokens     int64           `json:"includedTokens"`
	IncludedBytes      int64           `json:"includedBytes"`
	PromptTokens       int64           `json:"promptTokens"`
	ModelContextWindow *int64          `json:"modelContextWindow"`
	ByCategory         []CategoryUsage `json:"byCategory"`
}

// CategoryUsage is the part of a ContextUsage that is of one category. Categories
// without items are left out.
type CategoryUsage struct {
	Category       ContextCategory `json:"category"`
	Count          int             `json:"count"`
	Tokens         int64           `json:"tokens"`
	Bytes          int64           `json:"bytes"`
	IncludedTokens int64           `json:"includedTokens"`
}

// ContextEdit is an entry of the journal of context edits. Op is what it does to items, such as exclude or pin, or it
// is apply, trim, summarize, compact, restore, or revert, which cannot be undone; At is in Unix milliseconds;
// Count is how many items it changed, SavedTokens how much smaller it made the next
// request. An edit that is undone can be redone until another one is made. ClientName is the name
// of the client that made it, absent if none is known. Items are the changed items, if asked for.
type ContextEdit struct {
	Revision    int64                `json:"revision"`
	Op          string               `json:"op"`
	At          int64                `json:"at"`
	Count       int                  `json:"count"`
	SavedTokens int64                `json:"savedTokens"`
	Undone      bool                 `json:"undone"`
	ClientName  string               `json:"clientName,omitempty"`
	Reason      string               `json:"reason,omitempty"`
	Items       *[]ContextItemChange `json:"items,omitempty"`
}

// ContextItemChange is the effect of an edit on an item. Both states are the same if only its text
// differs.
type ContextItemChange struct {
	ID  string           `json:"id"`
	Was ContextItemState `json:"was"`
	Is  ContextItemState `json:"is"`
}

// ContextItemState is what edits make of an item.
type ContextItemState string

// The states.
const (
	ItemIncluded ContextItemState = "included"
	ItemReplaced ContextItemState = "replaced"
	ItemExcluded ContextItemState = "excluded"
	ItemDeleted  ContextItemState = "deleted"
	// ItemHidden is the state after a trim, a compaction or a revert, and that of a summary before its
	// edit.
	ItemHidden ContextItemState = "hidden"
	// ItemPinned and ItemUnpinned are the states of an edit that only pins an item, or unpins it.
	ItemPinned   ContextItemState = "pinned"
	ItemUnpinned ContextItemState = "unpinned"
)

// ContextItemStates are all states.
func ContextItemStates() []ContextItemState {
	return []ContextItemState{
		ItemIncluded, ItemReplaced, ItemExcluded, ItemDeleted, ItemHidden, ItemPinned, ItemUnpinned,
	}
}

// The operations of a ContextEdit, and of the lines that keep them, that are no ContextOperation. Undo and redo are
// lines only.
const (
	EditApply     = "apply"
	EditTrim      = "trim"
	EditSummarize = "summarize"
	EditRevert    = "revert"
	EditCompact   = "compact"
	EditRestore   = "restore"
	EditUndo      = "undo"
	EditRedo      = "redo"
)

// ContextGetItemsParams asks for the list of context items. Cursor is the nextCursor
// of the page before; without a limit the page has all that is left.
type ContextGetItemsParams struct {
	ThreadID string  `json:"threadId"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ContextGetItemsResponse is a page of the list. Total counts the items of all pages.
type ContextGetItemsResponse struct {
	Revision   int64         `json:"revision"`
	Total      int           `json:"total"`
	Items      []ContextItem `json:"items"`
	Usage      ContextUsage  `json:"usage"`
	NextCursor *string       `json:"nextCursor"`
}

// ContextGetUsageParams asks what the context costs.
type ContextGetUsageParams struct {
	ThreadID string `json:"threadId"`
}

// ContextGetUsageResponse is the cost of the context. ServerTools is the cost of the definitions of tools, by MCP
// server. It is empty before the first turn of a loaded thread.
type ContextGetUsageResponse struct {
	Revision    int64             `json:"revision"`
	Usage       ContextUsage      `json:"usage"`
	ServerTools []ServerToolUsage `json:"serverTools"`
}

// ServerToolUsage is the cost of the definitions of a server's tools. Tokens is the cost of all of them.
// OfferedTokens is the part that each request has. The other tools are found by a search; FoundTools of them are in
// the context, and cost FoundTokens there.
type ServerToolUsage struct {
	Server        string `json:"server"`
	Tools         int    `json:"tools"`
	Tokens        int64  `json:"tokens"`
	OfferedTools  int    `json:"offeredTools"`
	OfferedTokens int64  `json:"offeredTokens"`
	FoundTools    int    `json:"foundTools"`
	FoundTokens   int64  `json:"foundTokens"`
}

// ContextPreviewParams asks what edits would do, one after the other. Nothing changes.
type ContextPreviewParams struct {
	ThreadID string             `json:"threadId"`
	Edits    []ContextOperation `json:"edits"`
}

// ContextUndoParams takes back the last edit that is not undone.
type ContextUndoParams struct{ ContextRequest }

// ContextUndoResponse has the edit that was undone.
type ContextUndoResponse struct {
	Revision int64        `json:"revision"`
	Undone   ContextEdit  `json:"undone"`
	Usage    ContextUsage `json:"usage"`
}

// ContextRedoParams makes the edit again that was undone last.
type ContextRedoParams struct{ ContextRequest }

// ContextRedoResponse has the edit that was redone.
type ContextRedoResponse struct {
	Revision int64        `json:"revision"`
	Redone   ContextEdit  `json:"redone"`
	Usage    ContextUsage `json:"usage"`
}

// ContextGotoParams undoes or redoes edits until the context is as it was after the edit of a revision,
// or before the first edit for revision 0.
type ContextGotoParams struct {
	ContextRequest
	Revision int64 `json:"revision"`
}

// ContextGotoResponse counts the edits that were undone or redone.
type ContextGotoResponse struct {
	Revision int64        `json:"revision"`
	Undone   int          `json:"undone"`
	Redone   int          `json:"redone"`
	Usage    ContextUsage `json:"usage"`
}

// ContextListEditsParams asks for the journal, on request with the items that each edit changed.
type ContextListEditsParams struct {
	ThreadID     string `json:"threadId"`
	IncludeItems bool   `json:"includeItems,omitempty"`
}

// ContextListEditsResponse is the journal, oldest first.
type ContextListEditsResponse struct {
	Revision int64         `json:"revision"`
	Edits    []ContextEdit `json:"edits"`
}

// ContextRestoreParams brings back everything that edits took out or replaced. From
// "backup" first makes sure that the rollout's backup is whole and this thread's.
type ContextRestoreParams struct {
	ContextRequest
	From *string `json:"from,omitempty" oneof:"backup"`
}

// ContextRestoreResponse counts the items that came back.
type ContextRestoreResponse struct {
	Revision int64        `json:"revision"`
	Restored int          `json:"restored"`
	Usage    ContextUsage `json:"usage"`
}

// ContextItemsNotification is the list of context items after a change. If Full is false, for clients
// with the capability contextItemsDelta, Items are the new and changed items, and RemovedIDs the
// removed ones. Such a client removes the latter. Then, in order, it replaces the items that it has
// and inserts the others at their indices.
type ContextItemsNotification struct {
	ThreadID   string        `json:"threadId"`
	Revision   int64         `json:"revision"`
	Total      int           `json:"total"`
	Items      []ContextItem `json:"items"`
	RemovedIDs []string      `json:"removedIds"`
	Full       bool          `json:"full"`
	Usage      ContextUsage  `json:"usage"`
}

// NotificationMethod is ContextItems.
func (ContextItemsNotification) NotificationMethod() string { return "ContextItems" }
