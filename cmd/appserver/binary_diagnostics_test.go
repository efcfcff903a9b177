package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func (c *client) diagnostics() protocol.ServerDiagnosticsResponse {
	c.t.Helper()
	var d protocol.ServerDiagnosticsResponse
	require.NoError(c.t, json.Unmarshal(c.call("server/diagnostics", object{}), &d))
	return d
}

func TestBinaryTellsHowItIs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeThreads(t, home, 3, 1)
	c := startOffline(t, home)
	d := c.diagnostics()
	require.Equal(t, c.cmd.Process.Pid, d.Pid)
	require.Equal(t, home, d.CodexHome)
	require.Equal(t, protocol.Level, d.ProtocolLevel)
	require.Greater(t, *d.Memory.ResidentBytes, d.Memory.HeapBytes)
	require.Positive(t, d.Memory.HeapBytes)
	require.Positive(t, d.Goroutines)
	require.Equal(t, protocol.IndexClosed, d.Index.State)
	for c.call("thread/list", object{"modelProviders": []string{}}); d.Index.State != protocol.IndexReady; d = c.diagnostics() {
		require.Contains(t, []string{protocol.IndexClosed, protocol.IndexBuilding}, d.Index.State)
	}
	require.EqualValues(t, 3, *d.Index.Sessions)
	require.Equal(t, d.Sandbox.Enforced, d.Sandbox.Reason == nil)
	c.close()
}
