package transcript

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
	"Item.Ref":  "the payload is read again by its line",
	"Item.item": "it is decoded again",
}

// TestSnapshotHasEveryFieldOfTheTranscript fills each field and expects it back from a snapshot.
func TestSnapshotHasEveryFieldOfTheTranscript(t *testing.T) {
	lines := lineref.NewSource(noLines{})
	fields := fieldtest.Fields{Ignored: notDurable, Values: map[string]any{
		"turns": []Turn{{}}, "indices": map[string]int{"x": 0}, "events": []Event{{}}, "items": []Item{{}},
		"Err":         &protocol.TurnError{Message: "x", Misalignment: json.RawMessage("null")},
		"UsageBefore": protocol.ThreadTokenUsage{Last: protocol.TokenUsageBreakdown{TotalTokens: 1}},
		"more":        []lineref.Ref{{Source: lines, Line: 2, Part: lineref.Whole}},
	}}
	var was, now Transcript
	fields.Fill(t, &was)
	fields.Fill(t, &was.turns[0])
	fields.Fill(t, &was.turns[0].items[0])
	fields.Fill(t, &was.events[0])
	was.turns[0].items[0].Ref = lineref.Ref{Source: lines, Line: 1, Part: lineref.Whole}

	var snapshot bytes.Buffer
	require.NoError(t, was.WriteSnapshot(gob.NewEncoder(&snapshot)))
	require.NoError(t, now.ReadSnapshot(gob.NewDecoder(&snapshot), lines))
	fields.Same(t, &was, &now)
	fields.Same(t, &was.turns[0], &now.turns[0])
	fields.Same(t, &was.turns[0].items[0], &now.turns[0].items[0])
	require.Equal(t, was.events, now.events)
	require.Equal(t, was.turns[0].items[0].Ref, now.turns[0].items[0].Ref)
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }
