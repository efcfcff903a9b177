package transcript

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/core/pure/snapshot/snapshottest"
	"appserver/platform/fieldtest"
	"appserver/protocol"
)

// notDurable are the fields that a snapshot leaves out, each with the reason.
var notDurable = map[string]string{
	"Item.Ref":              "the payload is read again by its line",
	"Item.item":             "it is decoded again",
	"Transcript.turns":      "the test compares a turn",
	"Transcript.ids":        "the test compares an id",
	"Transcript.indices":    "the test finds an id",
	"Transcript.events":     "the test compares an event",
	"Transcript.itemEvents": "the test finds an item",
}

// TestSnapshotHasEveryFieldOfTheTranscript fills each field and expects it back from a snapshot.
func TestSnapshotHasEveryFieldOfTheTranscript(t *testing.T) {
	lines := lineref.NewSource(noLines{})
	fields := fieldtest.Fields{Ignored: notDurable, Values: map[string]any{
		"CodexErrorInfo": &protocol.CodexErrorInfo{Kind: "x"}, // the other fields exclude each other
		"more":           []lineref.Ref{{Source: lines, Line: 2, Part: lineref.Whole}},
	}}
	var was, now Transcript
	fields.Fill(t, &was)
	was.turns.Append(Turn{})
	fields.Fill(t, was.Turn(0))
	was.ids.Append(was.Turn(0).ID)
	fields.Fill(t, was.Turn(0).Item(0))
	was.events.Append(Event{})
	fields.Fill(t, was.events.At(0))
	was.indices.Set("x", 0)
	was.itemEvents.Add(was.Turn(0).Item(0).ID(), 0)
	was.Turn(0).Item(0).Ref = lineref.Ref{Source: lines, Line: 1, Part: lineref.Whole}

	snapshottest.Copy(t, was.WriteSnapshot, func(r *snapshot.Reader) { now.ReadSnapshot(r, lines) })
	fields.Same(t, &was, &now)
	fields.Same(t, was.Turn(0), now.Turn(0))
	fields.Same(t, was.Turn(0).Item(0), now.Turn(0).Item(0))
	require.Equal(t, was.Event(0), now.Event(0))
	require.Equal(t, was.Turn(0).Item(0).Ref, now.Turn(0).Item(0).Ref)
	require.Equal(t, was.TurnID(0), now.TurnID(0))
	*now.ids.At(0) = "x"
	index, found := now.IndexOf("x")
	require.True(t, found)
	require.Zero(t, index)
	*now.events.At(0) = Event{}
	index, found = now.LastItem(0, was.Turn(0).Item(0).ID())
	require.True(t, found)
	require.Zero(t, index)
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }
