package history

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/fieldtest"
	"appserver/core/lineref"
	"appserver/protocol"
)

// notDurable are the fields that a snapshot leaves out, each with the reason.
var notDurable = map[string]string{
	"History.shown":          "it is made again from the items",
	"History.trimmedTurns":   "they are made again from the journal",
	"History.models":         "it is made again from the items",
	"History.sentCompaction": "it is decided for each request",
	"History.destination":    "the caller sets it from the settings",
	"History.options":        "the caller sets them",
	"History.announced":      "after a load clients receive the whole list",
	"Item.Ref":               "the payload is read again by its line",
	"Item.item":              "it is decoded again",
	"Item.about":             "it is made again on first use",
	"Item.replacedBy":        "it is decided for each request",
	"Item.model":             "it is an index of models",
}

// TestSnapshotHasEveryFieldOfTheHistory fills each field and expects it back from a snapshot.
func TestSnapshotHasEveryFieldOfTheHistory(t *testing.T) {
	lines := lineref.NewSource(noLines{})
	text := "text"
	visible := visibility{hidden: true, deleted: true, excluded: true, pinned: true, omitted: 1, note: "x", text: &text}
	fields := fieldtest.Fields{Ignored: notDurable, Values: map[string]any{
		"items": []Item{{}}, "journal": []Edit{{}}, "order": []int32{0}, "latestCall": map[string]int32{"x": 0},
		"userItemIDs": map[int32]string{0: "x"}, "visibility": visible,
		"ContextEdit": protocol.ContextEdit{
			Op: "x",
		}, "changes": []Change{{0, visible, visible}}, "point": &protocol.StoredTrimPoint{ID: "x"},
		"savings": savings{{1, 2}},
		"economy": &protocol.StoredEconomy{Requests: 1},
	}}
	var was, now History
	fields.Fill(t, &was)
	fields.Fill(t, &was.items[0])
	fields.Fill(t, &was.journal[0])
	was.items[0].Ref = lineref.Ref{Source: lines, Line: 1, Part: 2}
	was.models = []Model{{"provider", "model"}}

	var snapshot bytes.Buffer
	require.NoError(t, was.WriteSnapshot(gob.NewEncoder(&snapshot)))
	require.NoError(t, now.ReadSnapshot(gob.NewDecoder(&snapshot), lines))
	fields.Same(t, &was, &now)
	fields.Same(t, &was.items[0], &now.items[0])
	fields.Same(t, &was.journal[0], &now.journal[0])
	require.Equal(t, was.items[0].Ref, now.items[0].Ref)
	require.Equal(t, was.modelOf(&was.items[0]), now.modelOf(&now.items[0]))
}

// TestSnapshotsKeepTheFormOfEncryptedCompactions continues from a snapshot as from all lines: items of an encrypted
// compaction are not in form until forms are chosen.
func TestSnapshotsKeepTheFormOfEncryptedCompactions(t *testing.T) {
	lines := lineref.NewSource(noLines{})
	items := []json.RawMessage{
		json.RawMessage(`{"type":"message","role":"user","content":[{"type":"input_text","text":"old"}]}`),
		json.RawMessage(`{"type":"compaction","encrypted_content":"xyz"}`),
	}
	var was, now History
	was.joinEncrypted(&Line{Ordinal: 1, Source: lines}, items)
	was.Evict(0)
	var snapshot bytes.Buffer
	require.NoError(t, was.WriteSnapshot(gob.NewEncoder(&snapshot)))
	require.NoError(t, now.ReadSnapshot(gob.NewDecoder(&snapshot), lines))
	for i := range items {
		require.False(t, was.items[i].InForm())
		require.False(t, now.items[i].InForm())
	}
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }
