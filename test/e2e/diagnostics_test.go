package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

func TestDiagnosticsDescribeServer(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesIndex)
	t.Parallel()
	home := t.TempDir()
	writeThreads(t, home, 3, 1)
	c := apptest.StartOffline(t, home)
	d := c.Diagnostics()
	require.Equal(t, c.Cmd.Process.Pid, d.Pid)
	require.Equal(t, home, d.CodexHome)
	require.Equal(t, protocol.Level, d.ProtocolLevel)
	require.Greater(t, *d.Memory.ResidentBytes, d.Memory.HeapBytes)
	require.Positive(t, d.Memory.HeapBytes)
	require.Positive(t, d.Goroutines)
	require.Equal(t, protocol.IndexClosed, d.Index.State)
	for c.Call("thread/list",
		apptest.Object{"modelProviders": []string{}}); d.Index.State != protocol.IndexReady; d = c.Diagnostics() {
		require.Contains(t, []string{protocol.IndexClosed, protocol.IndexBuilding}, d.Index.State)
	}
	require.EqualValues(t, 3, *d.Index.Sessions)
	require.Equal(t, d.Sandbox.Enforced, d.Sandbox.Reason == nil)
	c.Close()
}
