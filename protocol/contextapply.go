package protocol

// ContextApplyParams asks to make edits, one after the other, as one edit of the journal. When is
// "now", the default, or "turnEnd". With turnEnd the edits wait in memory while a turn is active.
type ContextApplyParams struct {
	ContextRequest
	Edits []ContextOperation `json:"edits"`
	When  *string            `json:"when,omitempty" oneof:"now turnEnd"`
}

// The values of ContextApplyParams.When.
const (
	ApplyNow       = "now"
	ApplyAtTurnEnd = "turnEnd"
)

// ContextApplyResponse has the edit. Edit is null if nothing changes, or if the edits wait. Applied is
// false if they wait: a crash before the end of the turn loses them.
type ContextApplyResponse struct {
	Revision int64        `json:"revision"`
	Edit     *ContextEdit `json:"edit"`
	Applied  bool         `json:"applied"`
	Usage    ContextUsage `json:"usage"`
}
