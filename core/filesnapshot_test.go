package core_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// TestSnapshotsKeepCheckpoints checks that a thread from a snapshot and later lines equals the one
// from all lines, in checkpoints and changes.
func TestSnapshotsKeepCheckpoints(t *testing.T) {
	m := newMachine(t.Errorf)
	for _, line := range []string{
		"start", "world tracking=worktree", "turn-start one", "captured tree-1", "sample-done run=make", "tool-started",
		"tool-done exit=0 file=a::1", "sample-done",
		"turn-start two", "captured tree-2", "sample-done run=make", "tool-started", "tool-done exit=0 file=b:1:2",
		"sample-done",
	} {
		_, err := runBlock(m, line)
		require.NoError(t, err, line)
	}
	whole := core.Load(threadID, core.Options{}, m.settings, m.lines)
	for cut := range m.lines {
		loading := core.BeginLoad(threadID, m.settings, machineDisk{m})
		for i := range cut {
			loading.Apply(&m.lines[i])
		}
		var snapshot bytes.Buffer
		require.NoError(t, loading.Snapshot(&snapshot))
		again, ok := core.ContinueLoad(m.settings, machineDisk{m}, snapshot.Bytes())
		require.True(t, ok)
		for i := cut; i < len(m.lines); i++ {
			again.Apply(&m.lines[i])
		}
		thread := again.Thread(core.Options{})
		require.Equal(t, checkpointsOf(m, whole), checkpointsOf(m, thread), "cut at line %d", cut)
		want, refusal := whole.Changed(nil)
		require.Nil(t, refusal)
		got, refusal := thread.Changed(nil)
		require.Nil(t, refusal)
		require.Equal(t, want, got)
		plan, refusal := thread.PlanRevert("id-1", protocol.RevertBoth, nil)
		require.Nil(t, refusal)
		require.Len(t, plan.Changes[0].Changes, 2)
	}
}

func checkpointsOf(m *machine, t *core.Thread) string {
	out := t.Step(m.stamp(), core.ListCheckpoints{})
	return messageText(out.Messages[0])
}
