package protocol

import "strconv"

// This file has all that the protocol knows of the operations on items of the context. A new operation is a type with
// its params and its response, and a row of contextEdits.

// contextEdits returns the table of the operations. The name is the type of a ContextOperation, and behind context/ the
// name of a method.
func contextEdits() []contextEdit {
	return []contextEdit{
		editRow[ContextSetInclusionParams, ContextSetInclusionResponse]("setInclusion",
			"Excludes items from the context, or includes them again."),
		editRow[ContextPruneByIndicesParams, ContextPruneByIndicesResponse]("pruneByIndices",
			"Deletes items from the context."),
		editRow[ContextPruneParams, ContextPruneResponse]("prune",
			"Excludes the items of some categories."),
		editRow[ContextPinParams, ContextPinResponse]("pin",
			"Protects items from prune, trim and compaction, or removes the protection."),
		editRow[ContextReplaceParams, ContextReplaceResponse]("replace",
			"Replaces the text of a tool output or of reasoning."),
		editRow[ContextSetNoteParams, ContextSetNoteResponse]("setNote",
			"Attaches a note to items, or removes it. The model never receives a note."),
	}
}

// The operations of the lines that keep these edits, and of their ContextEdit.
const (
	EditExclude = "exclude"
	EditInclude = "include"
	EditDelete  = "delete"
	EditPrune   = "prune"
	// EditMask is an exclusion by the server.
	EditMask    = "mask"
	EditPin     = "pin"
	EditUnpin   = "unpin"
	EditReplace = "replace"
	EditNote    = "note"
)

// ContextItemMarks are members of a ContextItem that operations set, and that do not decide whether it is sent.
type ContextItemMarks struct {
	Pinned bool `json:"pinned"`
	// Replaced is set if an edit replaced the text of the item.
	Replaced bool `json:"replaced"`
	// Note is the text that a client attached. It is absent if the item has none.
	Note string `json:"note,omitempty"`
}

// appendMarks appends the marks as encoding/json writes them.
func (m *ContextItemMarks) appendMarks(b []byte) []byte {
	b = strconv.AppendBool(append(b, `,"pinned":`...), m.Pinned)
	b = strconv.AppendBool(append(b, `,"replaced":`...), m.Replaced)
	if m.Note != "" {
		b = AppendString(append(b, `,"note":`...), m.Note)
	}
	return b
}

// marksSize returns the approximate number of bytes that appendMarks appends.
func (m *ContextItemMarks) marksSize() int {
	return len(`,"pinned":false,"replaced":false,"note":""`) + len(m.Note)
}

// SetInclusion excludes items, or includes them again. By its id, an include also brings back an
// item that a compaction, a trim or a deletion removed from the list.
type SetInclusion struct {
	ContextTargets
	Included bool `json:"included"`
}

// ContextSetInclusionParams excludes items, or includes them again.
type ContextSetInclusionParams struct {
	ContextRequest
	SetInclusion
}

// ContextSetInclusionResponse is the result of context/setInclusion.
type ContextSetInclusionResponse struct {
	Revision int64 `json:"revision"`
	// Changed is the number of changed items.
	Changed int `json:"changed"`
	// Ignored is the number of targets that match no item.
	Ignored int          `json:"ignored"`
	Usage   ContextUsage `json:"usage"`
}

func (o *SetInclusion) contextOperation() ContextOperationVariant { return o }

func (o *SetInclusion) response(e ContextEdited) ContextSetInclusionResponse {
	return ContextSetInclusionResponse(e)
}

// PruneByIndices deletes items: they leave the list. Undo and restore bring them back.
type PruneByIndices struct{ ContextTargets }

// ContextPruneByIndicesParams deletes items.
type ContextPruneByIndicesParams struct {
	ContextRequest
	PruneByIndices
}

// ContextPruneByIndicesResponse is the result of context/pruneByIndices.
type ContextPruneByIndicesResponse struct {
	Revision int64 `json:"revision"`
	// Removed is the number of deleted items. Outputs of deleted calls count as well.
	Removed int `json:"removed"`
	// Ignored is the number of targets that match no item.
	Ignored int          `json:"ignored"`
	Usage   ContextUsage `json:"usage"`
}

func (o *PruneByIndices) contextOperation() ContextOperationVariant { return o }

func (o *PruneByIndices) response(e ContextEdited) ContextPruneByIndicesResponse {
	return ContextPruneByIndicesResponse{Revision: e.Revision, Removed: e.Changed, Ignored: e.Ignored, Usage: e.Usage}
}

// Prune excludes the items of some categories, except pinned ones.
type Prune struct {
	Categories []ContextCategory `json:"categories"`
	// Range selects the turns. The default is all.
	Range *PruneRange `json:"range,omitempty"`
}

// ContextPruneParams excludes items by category.
type ContextPruneParams struct {
	ContextRequest
	Prune
}

// ContextPruneResponse is the result of context/prune.
type ContextPruneResponse struct {
	Revision int64 `json:"revision"`
	// Changed is the number of excluded items.
	Changed int          `json:"changed"`
	Usage   ContextUsage `json:"usage"`
}

func (o *Prune) contextOperation() ContextOperationVariant { return o }

func (o *Prune) response(e ContextEdited) ContextPruneResponse {
	return ContextPruneResponse{Revision: e.Revision, Changed: e.Changed, Usage: e.Usage}
}

// Pin protects items from prune, trim and compaction, or removes the protection.
type Pin struct {
	ContextTargets
	Pinned bool `json:"pinned"`
}

// ContextPinParams pins items, or unpins them.
type ContextPinParams struct {
	ContextRequest
	Pin
}

// ContextPinResponse is the result of context/pin.
type ContextPinResponse struct {
	Revision int64 `json:"revision"`
	// Changed is the number of changed items.
	Changed int `json:"changed"`
	// Ignored is the number of targets that match no item.
	Ignored int `json:"ignored"`
}

func (o *Pin) contextOperation() ContextOperationVariant { return o }

func (o *Pin) response(e ContextEdited) ContextPinResponse {
	return ContextPinResponse{Revision: e.Revision, Changed: e.Changed, Ignored: e.Ignored}
}

// Replace sets another text for a tool output or for reasoning. The original stays in the rollout.
// Exactly one of Index and ID is required.
type Replace struct {
	// Index is the position in the list.
	Index *int64  `json:"index,omitempty"`
	ID    *string `json:"id,omitempty"`
	Text  string  `json:"text"`
}

// ContextReplaceParams replaces the text of an item.
type ContextReplaceParams struct {
	ContextRequest
	Replace
}

// ContextReplaceResponse is the cost of the context after the edit.
type ContextReplaceResponse struct {
	Revision int64        `json:"revision"`
	Usage    ContextUsage `json:"usage"`
}

func (o *Replace) contextOperation() ContextOperationVariant { return o }

func (o *Replace) response(e ContextEdited) ContextReplaceResponse {
	return ContextReplaceResponse{Revision: e.Revision, Usage: e.Usage}
}

// SetNote attaches a note to items.
type SetNote struct {
	ContextTargets
	// Note has at most 2,000 characters. Null or absent removes the note.
	Note *string `json:"note,omitempty"`
}

// MaxContextNote is the maximum length of a note, in characters.
const MaxContextNote = 2000

// ContextSetNoteParams attaches a note to items, or removes it.
type ContextSetNoteParams struct {
	ContextRequest
	SetNote
}

// ContextSetNoteResponse is the result of context/setNote.
type ContextSetNoteResponse struct {
	Revision int64 `json:"revision"`
	// Changed is the number of changed items.
	Changed int `json:"changed"`
	// Ignored is the number of targets that match no item.
	Ignored int `json:"ignored"`
}

func (o *SetNote) contextOperation() ContextOperationVariant { return o }

func (o *SetNote) response(e ContextEdited) ContextSetNoteResponse {
	return ContextSetNoteResponse{Revision: e.Revision, Changed: e.Changed, Ignored: e.Ignored}
}
