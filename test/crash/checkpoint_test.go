package crash

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// scriptedHome returns a home whose offline provider answers by a script.
func scriptedHome(t *testing.T, script string) (home string) {
	t.Helper()
	home = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), []byte(script), 0o600))
	apptest.WriteConfig(t, home, "[model_providers.offline]\nscript = \"script.json\"\n")
	return home
}

// TestCrashDuringCommandKeepsEarlierChanges kills the server while a command of a turn runs. The
// changes of the earlier calls are recorded and can be reverted. The file of the running command
// stays, because its author is unknown.
func TestCrashDuringCommandKeepsEarlierChanges(t *testing.T) {
	t.Parallel()
	p := apptest.NewRepository(t)
	home := scriptedHome(t, `{"steps":[
		{"toolCalls":[{"name":"shell","arguments":{"command":"echo changed > doc.txt; echo new > new.txt"}}]},
		{"toolCalls":[{"name":"shell","arguments":{"command":"echo half > half.txt; echo started; sleep 1000"}}]}]}`)
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	initial := p.Files()
	turn := c.BeginTurn(id, "go")
	notified := c.UntilMethod("turn/diff/updated")
	c.UntilOutput("started\n")
	c.Kill()

	c = apptest.StartOffline(t, home)
	require.Equal(t, gjson.GetBytes(notified.Params, "diff").Str,
		c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str, "the notified diff is kept")
	require.Equal(t, turn, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data.0.id").Str)
	require.Contains(t, c.CallJSON("thread/checkpoint/diff",
		apptest.Object{"threadId": id, "turnId": turn}).Get("diff").Str,
		"half.txt")
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.RevertTo(id, turn, "both")
	initial["half.txt"] = "half\n"
	require.Equal(t, initial, p.Files())
	require.Empty(t, c.ReadThread(id).Turns)
	c.Close()
}

// TestCrashAfterRevertKeepsIt kills the server after the response to a revert. The revert is
// recorded and can be undone.
func TestCrashAfterRevertKeepsIt(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), apptest.NewRepository(t)
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access"})
	initial := p.Files()
	turn, _ := p.RunChanges(c, id, "run: rm gone.txt; echo x > doc.txt")
	after := p.Files()
	undo := c.RevertTo(id, turn, "both").Get("undoCheckpointId").Str
	c.Kill()

	c = apptest.StartOffline(t, home)
	require.Equal(t, initial, p.Files())
	require.Empty(t, c.ReadThread(id).Turns)
	require.Empty(t, c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str)
	c.RevertTo(id, undo, "files")
	require.Equal(t, after, p.Files())
	c.Close()
}

// TestCheckpointInLinkedWorktree reverts files from a subfolder of a linked worktree. Paths are
// relative to its top, and the main worktree does not change.
func TestCheckpointInLinkedWorktree(t *testing.T) {
	t.Parallel()
	p := apptest.NewRepository(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	linked := apptest.Project{T: t, Dir: filepath.Join(top, "linked")}
	p.Git("worktree", "add", "-q", linked.Dir, "-b", "other")
	require.NoError(t, os.Mkdir(filepath.Join(linked.Dir, "sub"), 0o755))
	before, initial := p.Files(), linked.Files()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartThread(apptest.Object{"cwd": filepath.Join(linked.Dir, "sub"), "sandbox": "danger-full-access"})
	turn := c.BeginTurn(id, "run: echo a > a.txt && rm ../gone.txt")
	end := c.UntilMethod("turn/completed")
	require.Equal(t, "gone.txt", gjson.GetBytes(end.Params, "metadata.diff.files.0.path").Str)
	require.Equal(t, "sub/a.txt", gjson.GetBytes(end.Params, "metadata.diff.files.1.path").Str)
	require.Equal(t, linked.Dir, c.CallJSON("thread/checkpoint/list",
		apptest.Object{"threadId": id}).Get("data.0.roots.0").Str)
	require.Contains(t, p.Git("for-each-ref", "refs/appserver"), turn, "a linked worktree shares the refs of its repository")
	c.RevertTo(id, turn, "files")
	require.Equal(t, initial, linked.Files())
	require.Equal(t, before, p.Files())
	c.Close()
}
