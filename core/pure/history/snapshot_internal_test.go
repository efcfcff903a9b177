package history

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/core/pure/snapshot/snapshottest"
	"appserver/platform/fieldtest"
)

// notDurable are the fields that a snapshot leaves out, each with the reason.
var notDurable = map[string]string{
	"History.shown":          "the test compares its places",
	"History.items":          "the test compares an item",
	"History.latestCall":     "the test finds an id",
	"History.trimmedTurns":   "they are made again from the journal",
	"History.sentCompaction": "it is decided for each request",
	"History.formsDue":       "the forms are decided after a load",
	"History.destination":    "the caller sets it from the settings",
	"History.options":        "the caller sets them",
	"History.announced":      "after a load clients receive the whole list",
	"History.usage":          "it is counted again",
	"Item.Ref":               "the payload is read again by its line",
	"Item.item":              "it is decoded again",
	"Item.about":             "it is made again on first use",
	"Item.replacedBy":        "it is decided for each request",
	"Edit.stored":            "it is another form of the changes",
	"Edit.decode":            "it decodes that form",
}

// TestSnapshotHasEveryFieldOfTheHistory fills each field and expects it back from a snapshot.
func TestSnapshotHasEveryFieldOfTheHistory(t *testing.T) {
	lines := lineref.NewSource(noLines{})
	fields := fieldtest.Fields{Ignored: notDurable, Values: map[string]any{
		"order": []int32{0}, "models": []Model{{}, {"provider", "model"}},
	}}
	var was History
	fields.Fill(t, &was)
	was.items.Append(Item{})
	fields.Fill(t, was.at(0))
	was.at(0).Ref = lineref.Ref{Source: lines, Line: 1, Part: 2}
	was.latestCall.Set("x", 0)
	was.shown.places = []int32{0}

	now := again(t, &was, lines)
	fields.Same(t, was.at(0), now.at(0))
	require.NotEmpty(t, now.journal[0].Changes())
	fields.Same(t, &was, now)
	require.Equal(t, was.at(0).Ref, now.at(0).Ref)
	require.Equal(t, was.shown.places, now.shown.places)
	place, found := now.latestCall.Find("x", func(place int32) bool { return place == 0 })
	require.True(t, found)
	require.Zero(t, place)
}

// TestSnapshotsKeepTheFormOfEncryptedCompactions continues from a snapshot as from all lines: items of an encrypted
// compaction are not in form until forms are chosen.
func TestSnapshotsKeepTheFormOfEncryptedCompactions(t *testing.T) {
	lines := lineref.NewSource(noLines{})
	items := []json.RawMessage{
		json.RawMessage(`{"type":"message","role":"user","content":[{"type":"input_text","text":"old"}]}`),
		json.RawMessage(`{"type":"compaction","encrypted_content":"xyz"}`),
	}
	var was History
	was.joinEncrypted(&Line{Ordinal: 1, Source: lines}, items)
	was.Evict(0)
	now := again(t, &was, lines)
	for i := range items {
		require.False(t, was.Item(i).InForm())
		require.False(t, now.Item(i).InForm())
	}
}

// again returns a history from the snapshot of another one.
func again(t *testing.T, was *History, lines *lineref.Source) *History {
	t.Helper()
	now := &History{}
	snapshottest.Copy(t, was.WriteSnapshot, func(r *snapshot.Reader) { now.ReadSnapshot(r, lines) })
	return now
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }
