package protocol

import "strconv"

// ContextItem is one entry of the model's input history. TurnID, ItemID, CallID and ToolName are
// null if the item has none.
type ContextItem struct {
	// Index is the position in the list.
	Index int `json:"index"`
	// ID never changes: r<ordinal of its line>, or r<ordinal>.<k> within a compacted line.
	ID       string          `json:"id"`
	Category ContextCategory `json:"category"`
	// Preview is one line of at most 80 graphemes: what the item is, and its first telling text.
	Preview string `json:"preview"`
	// LongPreview is the same line with at most 160 graphemes. It is absent if Preview has all of it.
	LongPreview string `json:"longPreview,omitempty"`
	// Included is false if the user excluded the item.
	Included bool `json:"included"`
	// InPrompt reports whether the next request has the item. It lacks excluded items, the outputs
	// of excluded calls, and items that only another model, provider or API can read.
	InPrompt bool `json:"inPrompt"`
	// NotSentReason is the reason if InPrompt is false. It is absent otherwise.
	NotSentReason NotSentReason `json:"notSentReason,omitempty"`
	ContextItemMarks
	// Superseded marks instructions from AGENTS.md files that a later item replaces or ends; the
	// model still receives them.
	Superseded bool `json:"superseded,omitempty"`
	// Tokens is the cost of the item when it is sent.
	Tokens int64 `json:"tokens"`
	// Bytes is the size of the item when it is sent.
	Bytes  int64   `json:"bytes"`
	TurnID *string `json:"turnId"`
	// ItemID is the ThreadItem that shows the item.
	ItemID   *string `json:"itemId"`
	CallID   *string `json:"callId"`
	ToolName *string `json:"toolName"`
	// AgentThreadID is the thread of the agent whose result the item is. It is absent otherwise.
	AgentThreadID *string `json:"agentThreadId,omitempty"`
}

func (i *ContextItem) append(b []byte) []byte {
	b = appendInt(append(b, `{"index":`...), int64(i.Index))
	b = AppendString(append(b, `,"id":`...), i.ID)
	b = AppendString(append(b, `,"category":`...), string(i.Category))
	b = AppendString(append(b, `,"preview":`...), i.Preview)
	if i.LongPreview != "" {
		b = AppendString(append(b, `,"longPreview":`...), i.LongPreview)
	}
	b = strconv.AppendBool(append(b, `,"included":`...), i.Included)
	b = strconv.AppendBool(append(b, `,"inPrompt":`...), i.InPrompt)
	if i.NotSentReason != "" {
		b = AppendString(append(b, `,"notSentReason":`...), string(i.NotSentReason))
	}
	b = i.appendMarks(b)
	if i.Superseded {
		b = append(b, `,"superseded":true`...)
	}
	b = appendInt(append(b, `,"tokens":`...), i.Tokens)
	b = appendInt(append(b, `,"bytes":`...), i.Bytes)
	b = appendText(append(b, `,"turnId":`...), i.TurnID)
	b = appendText(append(b, `,"itemId":`...), i.ItemID)
	b = appendText(append(b, `,"callId":`...), i.CallID)
	b = appendText(append(b, `,"toolName":`...), i.ToolName)
	if i.AgentThreadID != nil {
		b = AppendString(append(b, `,"agentThreadId":`...), *i.AgentThreadID)
	}
	return append(b, '}')
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

// NotSentReason is the reason for which a ContextItem is not in the prompt.
type NotSentReason string

// The reasons.
const (
	// NotSentExcluded is the reason for an item that the user excluded.
	NotSentExcluded NotSentReason = "excluded"
	// NotSentCallNotSent is the reason for an output whose call is not sent or does not exist.
	NotSentCallNotSent NotSentReason = "callNotSent"
	// NotSentAnswerNotSent is the reason for reasoning whose text or call is not sent or does not
	// exist.
	NotSentAnswerNotSent NotSentReason = "answerNotSent"
	// NotSentNotTakenBack is the reason for reasoning that its provider does not accept in
	// requests.
	NotSentNotTakenBack NotSentReason = "notTakenBack"
	// NotSentRefused is the reason for encrypted content that its provider could not read.
	NotSentRefused NotSentReason = "refused"
	// NotSentReplaced is the reason for encrypted reasoning whose text was replaced.
	NotSentReplaced NotSentReason = "replaced"
	// The reasons for an item of another model, another provider, or another API than the next request's.
	NotSentOtherModel    NotSentReason = "otherModel"
	NotSentOtherProvider NotSentReason = "otherProvider"
	NotSentOtherAPI      NotSentReason = "otherApi"
	// NotSentCompactionSent is the reason for items that an encrypted compaction replaces.
	// NotSentOriginalsSent is the reason for items that came with an encrypted compaction that is
	// not sent.
	NotSentCompactionSent NotSentReason = "compactionSent"
	NotSentOriginalsSent  NotSentReason = "originalsSent"
	// NotSentUnreadable is the reason for an item of an unknown type, or one that cannot be
	// decoded.
	NotSentUnreadable NotSentReason = "unreadable"
)

// NotSentReasons returns all reasons.
func NotSentReasons() []NotSentReason {
	return []NotSentReason{
		NotSentExcluded, NotSentCallNotSent, NotSentAnswerNotSent, NotSentNotTakenBack, NotSentRefused, NotSentReplaced,
		NotSentOtherModel, NotSentOtherProvider, NotSentOtherAPI,
		NotSentCompactionSent, NotSentOriginalsSent, NotSentUnreadable,
	}
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

// ContextCategory is the kind of a ContextItem. In params, snake_case and PascalCase are accepted
// as well.
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

// ContextCategories returns all categories.
func ContextCategories() []ContextCategory {
	return []ContextCategory{
		CategoryUserInstructions, CategoryEnvironmentContext, CategoryDeveloperMessage, CategoryUserMessage,
		CategoryAssistantMessage,
		CategoryReasoning, CategoryToolCall, CategoryToolOutput, CategoryToolDefinition, CategorySummary, CategoryOther,
	}
}

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

// ContextCategoryOf returns the category of a word in camelCase, snake_case or PascalCase.
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

// ContextUsage is the cost of a thread's context.
type ContextUsage struct {
	// TotalTokens is the cost of all items.
	TotalTokens int64 `json:"totalTokens"`
	TotalBytes  int64 `json:"totalBytes"`
	// IncludedTokens is the cost of the items of the next request, with placeholders.
	IncludedTokens int64 `json:"includedTokens"`
	IncludedBytes  int64 `json:"includedBytes"`
	// PromptTokens is the cost of the next request: system prompt, tools, and the listed items.
	PromptTokens int64 `json:"promptTokens"`
	// ModelContextWindow is in tokens, or null if unknown.
	ModelContextWindow *int64          `json:"modelContextWindow"`
	ByCategory         []CategoryUsage `json:"byCategory"`
}

// CategoryUsage is the part of a ContextUsage for one category. Categories without items are left
// out.
type CategoryUsage struct {
	Category       ContextCategory `json:"category"`
	Count          int             `json:"count"`
	Tokens         int64           `json:"tokens"`
	Bytes          int64           `json:"bytes"`
	IncludedTokens int64           `json:"includedTokens"`
}

// ContextEdit is an entry of the journal of context edits. An undone edit can be redone until the
// next edit.
type ContextEdit struct {
	Revision int64 `json:"revision"`
	// Op is the effect on items, such as exclude or pin, or apply, trim, summarize, compact, restore or
	// revert. A revert cannot be undone here.
	Op string `json:"op"`
	// At is in Unix milliseconds.
	At int64 `json:"at"`
	// Count is the number of changed items.
	Count int `json:"count"`
	// SavedTokens is the number of tokens by which the edit made the next request smaller.
	SavedTokens int64 `json:"savedTokens"`
	Undone      bool  `json:"undone"`
	// ClientName is the name of the client that made the edit. It is absent if unknown.
	ClientName string `json:"clientName,omitempty"`
	// Reason is the reason of an edit that the server made by itself. It is absent otherwise.
	Reason string `json:"reason,omitempty"`
	// Items are the changed items. It is absent unless it was requested.
	Items *[]ContextItemChange `json:"items,omitempty"`
}

// ContextItemChange is the effect of an edit on an item.
type ContextItemChange struct {
	ID string `json:"id"`
	// Was is the state before the edit.
	Was ContextItemState `json:"was"`
	// Is is the state after the edit. It equals Was if only the text differs.
	Is ContextItemState `json:"is"`
}

// ContextItemState is the state of an item after edits.
type ContextItemState string

// The states.
const (
	ItemIncluded ContextItemState = "included"
	ItemReplaced ContextItemState = "replaced"
	ItemExcluded ContextItemState = "excluded"
	ItemDeleted  ContextItemState = "deleted"
	// ItemHidden is the state after a trim, a compaction or a revert, and the state of a summary before
	// its edit.
	ItemHidden ContextItemState = "hidden"
	// ItemPinned and ItemUnpinned are the states of an edit that only pins an item, or unpins it.
	ItemPinned   ContextItemState = "pinned"
	ItemUnpinned ContextItemState = "unpinned"
)

// ContextItemStates returns all states.
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

// ContextGetItemsParams requests the list of context items.
type ContextGetItemsParams struct {
	ThreadID string `json:"threadId"`
	// Cursor is the nextCursor of the page before.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the maximum number of items of the page. By default, the page has all remaining
	// items.
	Limit *uint32 `json:"limit,omitempty"`
}

// ContextGetItemsResponse is a page of the list.
type ContextGetItemsResponse struct {
	Revision int64 `json:"revision"`
	// Total is the number of items of all pages.
	Total      int           `json:"total"`
	Items      []ContextItem `json:"items"`
	Usage      ContextUsage  `json:"usage"`
	NextCursor *string       `json:"nextCursor"`
}

// JSONSize returns the approximate number of bytes that AppendParts appends.
func (r ContextGetItemsResponse) JSONSize() int { return sizeOf(r.Items) }

// AppendParts appends the output of Marshal, and flushes it in parts.
func (r ContextGetItemsResponse) AppendParts(b []byte, flush Flush) ([]byte, error) {
	b = appendInt(append(b, `{"revision":`...), r.Revision)
	b = appendInt(append(b, `,"total":`...), int64(r.Total))
	b, err := appendItems(append(b, `,"items":`...), r.Items, flush)
	if err != nil {
		return b, err
	}
	b, err = appendUsage(append(b, `,"usage":`...), r.Usage)
	b = appendText(append(b, `,"nextCursor":`...), r.NextCursor)
	return append(b, '}'), err
}

// ContextGetUsageParams requests the cost of the context.
type ContextGetUsageParams struct {
	ThreadID string `json:"threadId"`
}

// ContextGetUsageResponse is the cost of the context.
type ContextGetUsageResponse struct {
	Revision int64        `json:"revision"`
	Usage    ContextUsage `json:"usage"`
	// ServerTools has the cost of the definitions of tools, by MCP server. It is empty before the
	// first turn of a loaded thread.
	ServerTools []ServerToolUsage `json:"serverTools"`
}

// ServerToolUsage is the cost of the definitions of a server's tools. Each request has some of the
// tools; the model finds the others by a search.
type ServerToolUsage struct {
	Server string `json:"server"`
	Tools  int    `json:"tools"`
	// Tokens is the cost of all tools.
	Tokens int64 `json:"tokens"`
	// OfferedTools is the number of tools in each request.
	OfferedTools int `json:"offeredTools"`
	// OfferedTokens is the cost of the tools in each request.
	OfferedTokens int64 `json:"offeredTokens"`
	// FoundTools is the number of the other tools that a search has brought into the context.
	FoundTools int `json:"foundTools"`
	// FoundTokens is the cost of the found tools in the context.
	FoundTokens int64 `json:"foundTokens"`
}

// ContextUndoParams undoes the last edit that is in force.
type ContextUndoParams struct{ ContextRequest }

// ContextUndoResponse has the edit that was undone.
type ContextUndoResponse struct {
	Revision int64        `json:"revision"`
	Undone   ContextEdit  `json:"undone"`
	Usage    ContextUsage `json:"usage"`
}

// ContextRedoParams redoes the edit that was undone last.
type ContextRedoParams struct{ ContextRequest }

// ContextRedoResponse has the edit that was redone.
type ContextRedoResponse struct {
	Revision int64        `json:"revision"`
	Redone   ContextEdit  `json:"redone"`
	Usage    ContextUsage `json:"usage"`
}

// ContextGotoParams undoes or redoes edits until the context is as it was after an edit.
type ContextGotoParams struct {
	ContextRequest
	// Revision is the revision of the edit, or 0 for the context before the first edit.
	Revision int64 `json:"revision"`
}

// ContextGotoResponse has the numbers of edits that were undone or redone.
type ContextGotoResponse struct {
	Revision int64        `json:"revision"`
	Undone   int          `json:"undone"`
	Redone   int          `json:"redone"`
	Usage    ContextUsage `json:"usage"`
}

// ContextListEditsParams requests the journal of context edits.
type ContextListEditsParams struct {
	ThreadID string `json:"threadId"`
	// IncludeItems requests the items that each edit changed.
	IncludeItems bool `json:"includeItems,omitempty"`
}

// ContextListEditsResponse is the journal, the oldest edit first.
type ContextListEditsResponse struct {
	Revision int64         `json:"revision"`
	Edits    []ContextEdit `json:"edits"`
}

// ContextRestoreParams restores all items that edits removed or replaced.
type ContextRestoreParams struct {
	ContextRequest
	// From is "backup" to check first that the rollout's backup is complete and belongs to the
	// thread.
	From *string `json:"from,omitempty" oneof:"backup"`
}

// ContextRestoreResponse is the result of context/restore.
type ContextRestoreResponse struct {
	Revision int64 `json:"revision"`
	// Restored is the number of restored items.
	Restored int          `json:"restored"`
	Usage    ContextUsage `json:"usage"`
}

// ContextItemsNotification has the list of context items after a change, or the changes of the
// list.
type ContextItemsNotification struct {
	ThreadID string `json:"threadId"`
	Revision int64  `json:"revision"`
	// Total is the number of items in the list.
	Total int `json:"total"`
	// Items are all items, or the new and changed ones if Full is false.
	Items []ContextItem `json:"items"`
	// RemovedIDs are the removed items if Full is false. The client removes them first.
	RemovedIDs []string `json:"removedIds"`
	// Full is false for clients with the capability contextItemsDelta, if the notification has
	// changes only. After the removal, such a client replaces the items that it has, and inserts
	// the others at their indices, in order.
	Full  bool         `json:"full"`
	Usage ContextUsage `json:"usage"`
}

// NotificationMethod returns "ContextItems".
func (ContextItemsNotification) NotificationMethod() string { return "ContextItems" }
