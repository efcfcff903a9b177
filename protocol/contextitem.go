package protocol

// ContextReadItemParams requests one item in full.
type ContextReadItemParams struct {
	ThreadID string `json:"threadId"`
	// ID is the id of a ContextItem, also of an item that has left the list.
	ID string `json:"id"`
}

// ContextReadItemResponse is one item in full.
type ContextReadItemResponse struct {
	Revision int64 `json:"revision"`
	// Item has the index -1 if it is not in the list.
	Item ContextItem `json:"item"`
	// Sent is the content in the next request, or null if the request lacks the item. It is the
	// placeholder of an excluded or deleted output.
	Sent *[]ContextPart `json:"sent"`
	// Original is the content in the rollout.
	Original []ContextPart     `json:"original"`
	Reason   ContextItemReason `json:"reason"`
}

// ContextPart is a part of a context item.
type ContextPart struct {
	// Type is text, image, or data for encrypted content and for the JSON of an unknown type.
	Type string `json:"type" oneof:"text image data"`
	// Text is the text or the data. It is absent for images.
	Text *string `json:"text,omitempty"`
	// URL is the URL of an image. It is absent otherwise.
	URL *string `json:"url,omitempty"`
}

// The types of a ContextPart.
const (
	PartText  = "text"
	PartImage = "image"
	PartData  = "data"
)

// ContextItemReason is the reason for which an item is sent or not.
type ContextItemReason struct {
	// Code is for programs.
	Code ContextReasonCode `json:"code"`
	// Text is a sentence for people.
	Text string `json:"text"`
}

// ContextReasonCode is the code of a ContextItemReason: a NotSentReason, or one of the other codes.
type ContextReasonCode string

// The codes that are no NotSentReason.
const (
	// ReasonSent is the code of an item that is sent unchanged. ReasonSentReplaced is the code of
	// an item that is sent with another text.
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

// ContextReasonCodes returns all codes.
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
