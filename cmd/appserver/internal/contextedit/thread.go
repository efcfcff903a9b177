package contextedit

import "appserver/protocol"

// Thread is the thread whose context is edited. Its methods are called one at a time.
type Thread interface {
	// Head returns the head of the thread.
	Head() (protocol.Thread, error)
	// Items returns the list and its usage.
	Items() (protocol.ContextGetItemsResponse, error)
	// Preview returns the effect of edits.
	Preview(edits []protocol.ContextOperation) (protocol.ContextPreviewResponse, error)
	// Apply makes edits as one.
	Apply(edits []protocol.ContextOperation, revision int64) (protocol.ContextApplyResponse, error)
	// Undo undoes the last edit.
	Undo(revision int64) (protocol.ContextUndoResponse, error)
	// Redo redoes the edit that was undone last.
	Redo(revision int64) (protocol.ContextRedoResponse, error)
	// ReadItem returns an item in full.
	ReadItem(id string) (protocol.ContextReadItemResponse, error)
	// Search returns the items whose text has a match.
	Search(query string, regex bool) (protocol.ContextSearchResponse, error)
	// Suggest returns items that the next requests can do without.
	Suggest() (protocol.ContextSuggestResponse, error)
	// Trim takes all turns out of the context except the last ones, if lastTurn is still the last one. "" is any.
	Trim(keep uint32, lastTurn string) error
	// Draft drafts a compaction, Commit applies it, with another text unless that is nil, and Cancel drops it.
	Draft() (protocol.ThreadCompactProposeResponse, error)
	Commit(draftID string, text *string) error
	Cancel() error
}

// Command is a request to a thread. It returns its result as a message for Update.
type Command func(Thread) Message

// Message is a Key, a Size, a Paste, or the result of a command.
type Message any

// Key is a pressed key: a character, or a name such as Up, Enter or Ctrl+R.
type Key string

// Paste is a text that the user pasted.
type Paste string

// Size is the size of the terminal in columns and rows.
type Size struct{ Columns, Rows int }

// loaded is the list, read at the start or again.
type loaded struct {
	head *protocol.Thread // nil if only the list was read
	list protocol.ContextGetItemsResponse
	err  error
}

// previewed is the price of the plan with a version.
type previewed struct {
	version int
	preview protocol.ContextPreviewResponse
	changed map[string]protocol.ContextSent // by the ids of the items that the next request has in another form
	err     error
}

// edited is the result of an apply, an undo or a redo. The list is the one after it.
type edited struct {
	verb  string
	edit  *protocol.ContextEdit // nil if nothing changed
	after loaded
	err   error
	// done states an edit that is no entry of its answer, or is "".
	done string
}

// itemRead is an item in full.
type itemRead struct {
	item protocol.ContextReadItemResponse
	err  error
}

// found are the matches of a search.
type found struct {
	query   string
	matches protocol.ContextSearchResponse
	err     error
}

// load reads the head and the list.
func load(t Thread) Message {
	head, err := t.Head()
	if err != nil {
		return loaded{err: err}
	}
	m := reload(t)
	m.head = &head
	return m
}

func reload(t Thread) (m loaded) {
	m.list, m.err = t.Items()
	return m
}

func applyEdits(edits []protocol.ContextOperation, revision int64) Command {
	return func(t Thread) Message {
		r, err := t.Apply(edits, revision)
		return edited{verb: "Applied", edit: r.Edit, after: reload(t), err: err}
	}
}

func undoEdit(revision int64) Command {
	return func(t Thread) Message {
		r, err := t.Undo(revision)
		return edited{verb: "Undone", edit: &r.Undone, after: reload(t), err: err}
	}
}

func redoEdit(revision int64) Command {
	return func(t Thread) Message {
		r, err := t.Redo(revision)
		return edited{verb: "Redone", edit: &r.Redone, after: reload(t), err: err}
	}
}
