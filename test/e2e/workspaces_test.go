package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestTurnsRunInTheWorkspacesOfAServerOnly starts threads, turns and commands inside and outside of
// fleet.workspaces, and edits a thread of another folder.
func TestTurnsRunInTheWorkspacesOfAServerOnly(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	home, inside := t.TempDir(), t.TempDir()
	outside := inside + "2" // not below it
	elsewhere := t.TempDir()
	before := apptest.StartProcess(t, apptest.OfflineCommand(t, home))
	before.Initialize()
	stored := before.StartThread(apptest.Object{"cwd": elsewhere})
	before.Turn(stored, "say hello")
	before.Close()

	c := apptest.StartProcess(t, apptest.OfflineCommand(t, home, "-c", `fleet.workspaces=["`+inside+`"]`))
	c.Initialize()
	say := []apptest.Object{{"type": "text", "text": "say more"}}
	refused := func(method string, params apptest.Object, dir string) {
		t.Helper()
		err := c.CallRejected(method, params)
		require.Equal(t, "cwdNotFound", err.Data.Kind)
		require.Contains(t, err.Message, "fleet.workspaces")
		require.Contains(t, err.Message, dir)
	}
	id := c.StartThread(apptest.Object{"cwd": inside})
	require.Equal(t, "completed", c.Turn(id, "say hello").Status)
	c.Call("command/exec", apptest.Object{"command": []string{"true"}, "cwd": inside})
	refused("thread/start", apptest.Object{"cwd": elsewhere}, elsewhere)
	refused("turn/start", apptest.Object{"threadId": id, "input": say, "cwd": filepath.Dir(inside)}, filepath.Dir(inside))
	refused("command/exec", apptest.Object{"command": []string{"true"}, "cwd": outside}, outside)
	refused("command/exec", apptest.Object{"command": []string{"true"}, "cwd": inside + "/.."}, filepath.Dir(inside))

	c.Call("thread/resume", apptest.Object{"threadId": stored})
	require.Len(t, c.ReadThread(stored).Turns, 1)
	c.Call("context/setInclusion", apptest.Object{"threadId": stored, "indices": []int{3}, "included": false})
	refused("turn/start", apptest.Object{"threadId": stored, "input": say}, elsewhere)
	refused("thread/shellCommand", apptest.Object{"threadId": stored, "command": "true"}, elsewhere)
	c.Close()
}
