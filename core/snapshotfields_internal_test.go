package core

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/fieldtest"
	"appserver/core/history"
	"appserver/core/lineref"
	"appserver/protocol"
)

// notDurable are the fields that a snapshot leaves out, each with the reason.
var notDurable = map[string]string{
	"log.from":       "the caller of ContinueLoad gives the lines",
	"log.appended":   "lines are evicted after a load only",
	"log.context":    "package history tests its part of the snapshot",
	"log.transcript": "package transcript tests its part of the snapshot",
}

// TestSnapshotHasEveryFieldOfTheThread gives each field a value, and expects it back from a snapshot.
func TestSnapshotHasEveryFieldOfTheThread(t *testing.T) {
	lines := noLines{}
	from := lineref.NewSource(lines)
	settings := Settings{Cwd: "/", ApprovalPolicy: protocol.AskForApproval{Mode: protocol.ApprovalNever}, Reviewer: "user",
		Sandbox: protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.DangerFullAccess{}}}
	was := Thread{log: log{from: from}}
	fields := fieldtest.Fields{Ignored: notDurable, Values: map[string]any{
		"meta": protocol.SessionMeta{ID: "id"}, "settings": settings,
		"usage":  protocol.ThreadTokenUsage{Total: protocol.TokenUsageBreakdown{TotalTokens: 1}},
		"points": []checkpoint{{At: 1}}, "fileChanges": []protocol.WorktreeChanges{{ID: "x"}},
	}}
	fields.Fill(t, &was.log)

	var snapshot bytes.Buffer
	loading := &Loading{thread: &was, defaults: settings}
	require.NoError(t, loading.Snapshot(&snapshot))
	again, ok := ContinueLoad(settings, lines, &snapshot)
	require.True(t, ok)
	now := again.thread
	fields.Same(t, &was.log, &now.log)
	require.Equal(t, history.Model{Provider: settings.Provider, Name: settings.Model}, now.context.Destination().Model)
}

type noLines struct{}

// Payload returns nil.
func (noLines) Payload(int) json.RawMessage { return nil }
