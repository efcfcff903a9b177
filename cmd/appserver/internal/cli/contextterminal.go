package cli

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/contextedit"
	"appserver/protocol"
)

// edit edits the context on the terminal. Log lines would destroy the screen, so they are printed after it.
func (c *contextCall) edit() error { return contextedit.Run(editedThread{c}) }

// checkTerminal returns an error unless the command can use the terminal.
func checkTerminal(s app.Streams) error {
	if isTerminal(s.In) && isTerminal(s.Out) {
		return nil
	}
	return errors.New("context edit needs a terminal as input and output: without one, use context list, exclude, include, delete, pin, prune, preview and undo")
}

// editedThread calls the methods of the protocol for the editor.
type editedThread struct{ c *contextCall }

// Head returns the head of the thread.
func (t editedThread) Head() (protocol.Thread, error) {
	r, err := app.Call[protocol.ThreadReadResponse](t.c.client, "thread/read",
		protocol.ThreadReadParams{ThreadID: t.c.thread})
	return r.Thread, err
}

// Items returns the list and its usage.
func (t editedThread) Items() (protocol.ContextGetItemsResponse, error) { return t.c.getItems() }

// Preview returns the effect of edits.
func (t editedThread) Preview(edits []protocol.ContextOperation) (protocol.ContextPreviewResponse, error) {
	return app.Call[protocol.ContextPreviewResponse](t.c.client, "context/preview",
		protocol.ContextPreviewParams{ThreadID: t.c.thread, Edits: edits})
}

// Apply makes edits as one.
func (t editedThread) Apply(edits []protocol.ContextOperation, revision int64) (protocol.ContextApplyResponse, error) {
	return app.Call[protocol.ContextApplyResponse](t.c.client, "context/apply",
		protocol.ContextApplyParams{ContextRequest: t.c.request(revision), Edits: edits})
}

// Undo undoes the last edit.
func (t editedThread) Undo(revision int64) (protocol.ContextUndoResponse, error) {
	return app.Call[protocol.ContextUndoResponse](t.c.client, "context/undo",
		protocol.ContextUndoParams{ContextRequest: t.c.request(revision)})
}

// Redo redoes the edit that was undone last.
func (t editedThread) Redo(revision int64) (protocol.ContextRedoResponse, error) {
	return app.Call[protocol.ContextRedoResponse](t.c.client, "context/redo",
		protocol.ContextRedoParams{ContextRequest: t.c.request(revision)})
}

// ReadItem returns an item in full.
func (t editedThread) ReadItem(id string) (protocol.ContextReadItemResponse, error) {
	return app.Call[protocol.ContextReadItemResponse](t.c.client, "context/readItem",
		protocol.ContextReadItemParams{ThreadID: t.c.thread, ID: id})
}

// Search returns the items whose text has a match.
func (t editedThread) Search(query string, regex bool) (protocol.ContextSearchResponse, error) {
	limit := uint32(1000)
	return app.Call[protocol.ContextSearchResponse](t.c.client, "context/search",
		protocol.ContextSearchParams{ThreadID: t.c.thread, Query: query, Regex: regex, Limit: &limit})
}

// Suggest returns items that the next requests can do without.
func (t editedThread) Suggest() (protocol.ContextSuggestResponse, error) {
	return app.Call[protocol.ContextSuggestResponse](t.c.client, "context/suggest",
		protocol.ContextSuggestParams{ThreadID: t.c.thread})
}

// Trim takes all turns out of the context except the last ones.
func (t editedThread) Trim(keep uint32, lastTurn string) error {
	p := protocol.ThreadContextTrimParams{ThreadID: t.c.thread, KeepLastNTurns: &keep}
	if lastTurn != "" {
		p.ExpectedLastTurnID = &lastTurn
	}
	_, err := app.Call[protocol.ThreadContextTrimResponse](t.c.client, "thread/context/trim", p)
	return err
}

// Draft drafts a compaction. A draft needs a loaded thread, so the thread stays loaded until Commit or Cancel.
func (t editedThread) Draft() (protocol.ThreadCompactProposeResponse, error) {
	var none protocol.ThreadCompactProposeResponse
	_, err := app.Call[protocol.ThreadResumeResponse](t.c.client, "thread/resume",
		protocol.ThreadResumeParams{ThreadID: t.c.thread})
	if err != nil {
		return none, err
	}
	d, err := app.Call[protocol.ThreadCompactProposeResponse](t.c.client, "thread/compact/propose",
		protocol.ThreadCompactProposeParams{ThreadID: t.c.thread})
	if err != nil {
		return none, errors.Join(err, t.unload())
	}
	return d, nil
}

// Commit applies a draft, with another text unless that is nil.
func (t editedThread) Commit(draftID string, text *string) error {
	_, err := app.Call[protocol.ThreadCompactCommitResponse](t.c.client, "thread/compact/commit",
		protocol.ThreadCompactCommitParams{DraftID: draftID, Text: text})
	return errors.Join(err, t.unload())
}

// Cancel drops the draft.
func (t editedThread) Cancel() error {
	_, err := app.Call[protocol.ThreadCompactCancelResponse](t.c.client, "thread/compact/cancel",
		protocol.ThreadCompactCancelParams{ThreadID: t.c.thread})
	return errors.Join(err, t.unload())
}

// unload lets the server unload the thread.
func (t editedThread) unload() error {
	_, err := app.Call[protocol.ThreadUnsubscribeResponse](t.c.client, "thread/unsubscribe",
		protocol.ThreadUnsubscribeParams{ThreadID: t.c.thread})
	return err
}

// heldWriter keeps what is written until release.
type heldWriter struct {
	mu   sync.Mutex
	text bytes.Buffer
	to   io.Writer
}

// Write keeps a text.
func (w *heldWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

// release writes the kept texts.
func (w *heldWriter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.to.Write(w.text.Bytes()) // a message about it would fail as well
	w.text.Reset()
}
