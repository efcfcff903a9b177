package protocol

// ContextReadItemParams asks for one item in full. ID is that of a ContextItem, of one that left the
// list too.
type ContextReadItemParams struct {
	ThreadID string `json:"threadId"`
	ID       string `json:"id"`
}

// ContextReadItemResponse is an item in full. The index of Item is -1 if the list does not have it.
// Sent is what the next request has of the item, or null if it has nothing; an excluded or
// deleted output has its placeholder there. Original is what the rollout has.
type ContextReadItemResponse struct {
	Revision int64             `json:"revision"`
	Item     ContextItem       `json:"item"`
	Sent     *[]ContextPart    `json:"sent"`
	Original []ContextPart     `json:"original"`
	Reason   ContextItemReason `json:"reason"`
}

// ContextPart is a part of a context item: a text, an image with its URL, or data. Data is encrypted
// content, or the JSON of a part or an item of an unknown type; Text has it.
type ContextPart struct {
	Type string  `json:"type" oneof:"text image data"`
	Text *string `json:"text,omitempty"`
	URL  *string `json:"url,omitempty"`
}

// The types of a ContextPart.
const (
	PartText  = "text"
	PartImage = "image"
	PartData  = "data"
)

// ContextItemReason is why an item is sent or not: a code for programs and a sentence for people.
type ContextItemReason struct {
	Code ContextReasonCode `json:"code"`
	Text string            `json:"text"`
}

// ContextReasonCode is the code of a ContextItemReason: a NotSentReason, or one of the codes below.
type ContextReasonCode string

// The codes that are no NotSentReason.
const (
	// ReasonSent is the code of an item that is sent as it is, ReasonSentReplaced of one that is sent
	// with another text.
	ReasonSent         ContextReasonCode = "sent"
	ReasonSentReplaced ContextReasonCode = "sentReplaced"
	ReasonDeleted      ContextReasonCode = "deleted"
	// An item that left the list is before a trim point, in a compaction, or in a reverted turn.
	ReasonTrimmed   ContextReasonCode = "trimmed"
	ReasonCompacted ContextReasonCode = "compacted"
	ReasonReverted  ContextReasonCode = "reverted"
	// ReasonUndone is the code of a summary whose edit is undone, or that a later edit replaced.
	ReasonUndone ContextReasonCode = "undone"
	// ReasonOutdated is the code of a reminder that a later one replaced, in versions that had one reminder at a time.
	ReasonOutdated ContextReasonCode = "outdated"
)

// ContextReasonCodes are all codes.
func ContextReasonCodes() []ContextReasonCode {
	codes := []ContextReasonCode{
		ReasonSent, ReasonSentReplaced, ReasonDeleted, ReasonTrimmed, ReasonCompacted, ReasonReverted, ReasonUndone,
		ReasonOutdated,
	}
	for _, reason := range NotSentReasons() {
		codes = append(codes, ContextReasonCode(reason))
	}
	return codes
}
