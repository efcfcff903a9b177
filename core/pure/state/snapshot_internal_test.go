package state

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/core/pure/lineref"
	"appserver/platform/fieldtest"
	"appserver/protocol"
)

// notDurable are the fields that a snapshot leaves out, each with the reason.
var notDurable = map[string]string{
	"State.from":       "the caller of ReadSnapshot gives the lines",
	"State.appended":   "lines are evicted after a load only",
	"State.reverts":    "there is no snapshot while a revert can be undone",
	"State.requests":   "they refer to lines; the test compares their numbers",
	"State.Context":    "package history tests its part of the snapshot",
	"State.Transcript": "package transcript tests its part of the snapshot",
}

// TestSnapshotHasEveryFieldOfTheState gives each field a value, and expects it back from a snapshot.
func TestSnapshotHasEveryFieldOfTheState(t *testing.T) {
	lines := noLines{}
	settings := Settings{Cwd: "/", ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalNever}, Reviewer: "user",
		Sandbox: protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.DangerFullAccess{}}}
	was := State{from: lineref.NewSource(lines)}
	fields := fieldtest.Fields{Ignored: notDurable, Values: map[string]any{
		"Settings": settings,
	}}
	fields.Fill(t, &was)
	was.requests.Append(request{7, lineref.Ref{Source: was.from, Line: 3, Part: lineref.Whole}})

	var snapshot bytes.Buffer
	require.NoError(t, was.WriteSnapshot(&snapshot, settings))
	now, ok := ReadSnapshot(snapshot.Bytes(), settings, lines)
	require.True(t, ok)
	fields.Same(t, &was, now)
	require.Equal(t, was.requests.At(0).Ordinal, now.requests.At(0).Ordinal)
	require.Equal(t, was.requests.At(0).ref.Line, now.requests.At(0).ref.Line)
	require.Equal(t, history.Model{Provider: settings.Provider, Name: settings.Model}, now.Context.Destination().Model)
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }
