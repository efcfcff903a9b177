package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// scripted is a home whose offline provider answers as a script says.
func scripted(t *testing.T, script string) (home string) {
	t.Helper()
	home = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), []byte(script), 0o600))
	writeConfig(t, home, "[model_providers.offline]\nscript = \"script.json\"\n")
	return home
}

// TestCrashWithinATurnThatWrites kills the server in the midst of a command. What the turn's
// calls before it changed is known, and can be taken back; what the command did stays, since
// nobody knows whose it is.
func TestCrashWithinATurnThatWrites(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	home := scripted(t, `{"steps":[
		{"toolCalls":[{"name":"shell","arguments":{"command":"echo changed > doc.txt; echo new > new.txt"}}]},
		{"toolCalls":[{"name":"shell","arguments":{"command":"echo half > half.txt; echo begun; sleep 1000"}}]}]}`)
	c := startOffline(t, home)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	atFirst := p.files()
	turn := c.beginTurn(id, "go")
	told := c.untilMethod("turn/diff/updated")
	c.untilOutput("begun\n")
	c.kill()

	c = startOffline(t, home)
	require.Equal(t, gjson.GetBytes(told.Params, "diff").Str, c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str, "told means kept")
	require.Equal(t, turn, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data.0.id").Str)
	require.Contains(t, c.get("thread/checkpoint/diff", object{"threadId": id, "turnId": turn}).Get("diff").Str, "half.txt")
	c.call("thread/resume", object{"threadId": id})
	c.revertTo(id, turn, "both")
	atFirst["half.txt"] = "half\n"
	require.Equal(t, atFirst, p.files())
	require.Empty(t, c.readThread(id).Turns)
	c.close()
}

// TestCrashRightAfterARevert kills the server when it has answered: the thread knows of it, and
// it can be taken back.
func TestCrashRightAfterARevert(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), newRepository(t)
	c := startOffline(t, home)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access"})
	atFirst := p.files()
	turn, _ := p.changes(c, id, "run: rm gone.txt; echo x > doc.txt")
	after := p.files()
	undo := c.revertTo(id, turn, "both").Get("undoCheckpointId").Str
	c.kill()

	c = startOffline(t, home)
	require.Equal(t, atFirst, p.files())
	require.Empty(t, c.readThread(id).Turns)
	require.Empty(t, c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str)
	c.revertTo(id, undo, "files")
	require.Equal(t, after, p.files())
	c.close()
}

// TestBinaryWorksInLinkedWorktrees and below their top: paths are those from the top, and the
// other worktree stays as it is.
func TestBinaryWorksInLinkedWorktrees(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	linked := project{t, filepath.Join(top, "linked")}
	p.git("worktree", "add", "-q", linked.dir, "-b", "other")
	require.NoError(t, os.Mkdir(filepath.Join(linked.dir, "sub"), 0o755))
	before, atFirst := p.files(), linked.files()
	c := startOffline(t, t.TempDir())
	id := c.startThread(object{"cwd": filepath.Join(linked.dir, "sub"), "sandbox": "danger-full-access"})
	turn := c.beginTurn(id, "run: echo a > a.txt && rm ../gone.txt")
	end := c.untilMethod("turn/completed")
	require.Equal(t, "gone.txt", gjson.GetBytes(end.Params, "metadata.diff.files.0.path").Str)
	require.Equal(t, "sub/a.txt", gjson.GetBytes(end.Params, "metadata.diff.files.1.path").Str)
	require.Equal(t, linked.dir, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data.0.roots.0").Str)
	require.Contains(t, p.git("for-each-ref", "refs/appserver"), turn, "a linked worktree's refs are the repository's")
	c.revertTo(id, turn, "files")
	require.Equal(t, atFirst, linked.files())
	require.Equal(t, before, p.files())
	c.close()
}
