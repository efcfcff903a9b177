package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// gitState returns the state of git except its objects.
func gitState(p apptest.Project) []string {
	p.T.Helper()
	state := []string{p.Git("status", "--porcelain=v2", "--branch"), p.Git("stash", "list"), p.Git("reflog", "-10")}
	for _, name := range []string{"index", "HEAD", "config"} {
		text, err := os.ReadFile(filepath.Join(p.Dir, ".git", name))
		require.NoError(p.T, err)
		state = append(state, string(text))
	}
	return state
}

const (
	patchOfStory = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: doc.txt\n@@\n one\n-two\n+2\n three\n*** Add File: sub/new.txt\n+new\n*** End Patch\nEOF\n"
	shellOfStory = "printf 'all new\\n' > doc.txt\nrm gone.txt\nmv run.sh tool.sh\nchmod +x untracked.txt\nprintf 'a\\0b' > data.bin\nprintf x > more.log\n"
)

// TestRevertRestoresWhatTurnsChanged reverts a patch, a command and conflicting edits of the user,
// after a trim, a resume and a crash.
func TestRevertRestoresWhatTurnsChanged(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), apptest.NewRepository(t)
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	git, atFirst := gitState(p), p.Files()
	first, end := p.RunChanges(c, id, apptest.ShellBlock(patchOfStory))
	require.JSONEq(t, `{"filesModified":1,"filesCreated":1,"filesDeleted":0,"totalAdditions":2,"totalDeletions":1,"files":[
		{"path":"doc.txt","oldPath":null,"kind":"modified","additions":1,"deletions":1,"binary":false},
		{"path":"sub/new.txt","oldPath":null,"kind":"created","additions":1,"deletions":0,"binary":false}]}`,
		gjson.GetBytes(end.Params, "metadata.diff").Raw)

	p.Write("mine.txt", "of the user\n")
	p.Write("staged.txt", "of the user\n")
	beforeSecond := p.Files()
	second, end := p.RunChanges(c, id, apptest.ShellBlock(shellOfStory))
	require.Equal(t, int64(1), gjson.GetBytes(end.Params, "metadata.diff.filesDeleted").Int())
	require.Equal(t, "renamed", gjson.GetBytes(end.Params, `metadata.diff.files.#(path=="tool.sh").kind`).Str)
	require.Equal(t, "run.sh", gjson.GetBytes(end.Params, `metadata.diff.files.#(path=="tool.sh").oldPath`).Str)
	require.True(t, gjson.GetBytes(end.Params, `metadata.diff.files.#(path=="data.bin").binary`).Bool())
	afterSecond := p.Files()
	afterGit := gitState(p)
	require.Equal(t, git[1:], afterGit[1:], "stash, reflog, index, HEAD and config")

	net := c.CallJSON("thread/diff/read", apptest.Object{"threadId": id})
	require.NotContains(t, net.Get("diff").Str, "mine.txt")
	require.Len(t, net.Get("turns").Array(), 2)
	require.Equal(t, p.Dir, net.Get("roots.0").Str)
	require.Contains(t, c.CallJSON("thread/diff/read",
		apptest.Object{"threadId": id, "turnId": first}).Get("diff").Str, "+2\n")
	require.Contains(t, c.CallJSON("thread/checkpoint/diff",
		apptest.Object{"threadId": id, "turnId": first}).Get("diff").Str,
		"mine.txt")

	dry := c.CallJSON("thread/checkpoint/revert",
		apptest.Object{"threadId": id, "turnId": second, "mode": "files", "dryRun": true})
	require.Equal(t, afterSecond, p.Files())
	p.RequireDiff(dry.Get("diff").Str, beforeSecond)
	undo := c.RevertTo(id, second, "files").Get("undoCheckpointId").Str
	require.Equal(t, beforeSecond, p.Files(), "changes of the user stay")
	c.RevertTo(id, undo, "files")
	require.Equal(t, afterSecond, p.Files())

	c.Call("thread/context/trim", apptest.Object{"threadId": id})
	c.Kill()
	c = apptest.StartOffline(t, home)
	p.Write("doc.txt", "of the user\n")
	for _, mode := range []string{"files", "both"} {
		m := c.Request("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": second, "mode": mode})
		require.Equal(t, "checkpointConflict", gjson.Get(m.Line, "error.data.kind").Str)
		require.Equal(t, filepath.Join(p.Dir, "doc.txt"), gjson.Get(m.Line, "error.data.paths.0").Str)
	}
	p.Write("doc.txt", "all new\n")
	require.Equal(t, afterSecond, p.Files(), "nothing was written")
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Len(t, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data").Array(), 4)
	answer := c.RevertTo(id, first, "both")
	require.Len(t, answer.Get("removedTurnIds").Array(), 2)
	require.Empty(t, c.ReadThread(id).Turns)
	want := atFirst
	want["mine.txt"], want["staged.txt"] = "of the user\n", "of the user\n"
	require.Equal(t, want, p.Files())
	c.Close()
}

// TestCheckpointRetention keeps checkpoints for the configured number of turns, while the thread
// exists.
func TestCheckpointRetention(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, p := t.TempDir(), apptest.NewRepository(t)
	c := apptest.StartOffline(t, home, "-c", "checkpoints.keep=2")
	id := c.StartThread(apptest.Object{"cwd": filepath.Join(p.Dir), "sandbox": "workspace-write"})
	var turns []string
	for _, text := range []string{"1", "2", "3"} {
		turn, _ := p.RunChanges(c, id, "run: printf "+text+" > doc.txt")
		turns = append([]string{turn}, turns...)
	}
	refs := func() []string {
		return strings.Fields(p.Git("for-each-ref", "--format=%(refname)", "refs/appserver/"+id))
	}
	list := c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id, "limit": 1})
	require.Equal(t, turns[0], list.Get("data.0.id").Str)
	list = c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id, "cursor": list.Get("nextCursor").Str})
	require.Equal(t, turns[1], list.Get("data.0.id").Str)
	require.Len(t, list.Get("data").Array(), 1)
	require.Equal(t, "checkpointNotFound",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": turns[2], "mode": "files"}).Data.Kind)
	require.Contains(t, refs(), "refs/appserver/"+id+"/"+turns[0])

	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Len(t, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data").Array(), 2)
	require.Equal(t, "threadArchived",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": turns[0], "mode": "files"}).Data.Kind)
	require.NotEmpty(t, c.CallJSON("thread/checkpoint/diff",
		apptest.Object{"threadId": id, "turnId": turns[1]}).Get("diff").Str)
	p.Write("staged.txt", "captured, and kept by nothing\n")
	require.Contains(t, c.CallJSON("thread/checkpoint/diff",
		apptest.Object{"threadId": id, "turnId": turns[0]}).Get("diff").Str, "kept by nothing")
	p.Git("gc", "-q", "--prune=now")
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	c.RevertTo(id, turns[1], "files")
	require.Equal(t, "1", p.Files()["doc.txt"])
	c.Call("thread/delete", apptest.Object{"threadId": id})
	require.Empty(t, refs())
	c.Close()
}

// TestCheckpointsOfUnchangedFilesShareARef expects one ref for turns that change nothing, until the last
// of their checkpoints is forgotten.
func TestCheckpointsOfUnchangedFilesShareARef(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), apptest.NewRepository(t)
	c := apptest.StartOffline(t, home, "-c", "checkpoints.keep=2")
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "workspace-write"})
	refs := func() []string {
		return strings.Fields(p.Git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/appserver/"+id))
	}
	checkpoints := func() (ids []string) {
		for _, one := range c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data.#.id").Array() {
			ids = append(ids, one.Str)
		}
		return ids
	}
	recorded := func(turn string) {
		t.Helper()
		require.Eventually(t, func() bool { return slices.Index(checkpoints(), turn) == 0 }, apptest.Timeout,
			apptest.Timeout/1000)
	}
	var turns []string
	say := func() {
		t.Helper()
		turn, _ := p.RunChanges(c, id, "hi") // it copies the repository, which no git may change then
		turns = append(turns, turn)
		recorded(turn)
	}
	for range 4 {
		say()
	}
	require.Equal(t, []string{turns[3], turns[2]}, checkpoints())
	require.Equal(t, []string{turns[0]}, refs())
	p.Write("doc.txt", "of the user\n")
	p.Git("gc", "-q", "--prune=now")
	diff := c.CallJSON("thread/checkpoint/diff", apptest.Object{"threadId": id, "turnId": turns[3]}).Get("diff").Str
	require.Contains(t, diff, "+of the user")
	for range 2 {
		say()
	}
	require.Eventually(t, func() bool { return len(refs()) == 1 && refs()[0] == turns[4] }, apptest.Timeout,
		apptest.Timeout/1000)
	c.Close()
}

// TestCheckpointsOutsideOfRepositories checks folders without a repository, and worktrees that are
// too large.
func TestCheckpointsOutsideOfRepositories(t *testing.T) {
	t.Parallel()
	p := apptest.Project{T: t, Dir: t.TempDir()}
	p.Write("a.txt", "one\n")
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access"})
	turn, _ := p.RunChanges(c, id, "run: mkdir d && mv a.txt d/b.txt")
	c.RevertTo(id, turn, "both")
	require.Equal(t, map[string]string{"a.txt": "one\n"}, p.Files())
	require.NoDirExists(t, filepath.Join(p.Dir, ".git"))
	c.Close()

	c = apptest.StartOffline(t, t.TempDir(), "-c", "checkpoints.max_files=1")
	p.Write("b.txt", "two\n")
	id = c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access"})
	c.BeginTurn(id, "run: echo three > c.txt")
	require.Contains(t, gjson.GetBytes(c.UntilMethod("warning").Params, "message").Str, "more than 1 files")
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.Empty(t, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data").Array())
	p.RunChanges(c, id, apptest.ShellBlock("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\nEOF\n"))
	require.Contains(t, c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str, "deleted file")
	c.Close()
}

// TestDisabledCheckpointsStillReportPatches disables checkpoints. Changes by patches are still
// notified.
func TestDisabledCheckpointsStillReportPatches(t *testing.T) {
	t.Parallel()
	p := apptest.NewRepository(t)
	c := apptest.StartOffline(t, t.TempDir(), "-c", "checkpoints.enabled=false")
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access"})
	turn, end := p.RunChanges(c, id, apptest.ShellBlock(patchOfStory))
	require.Equal(t, int64(1), gjson.GetBytes(end.Params, "metadata.diff.filesCreated").Int())
	c.Turn(id, "run: rm gone.txt")
	require.Len(t, c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("turns").Array(), 1)
	require.Empty(t, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data").Array())
	require.Equal(t, "checkpointsOff",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": turn, "mode": "files"}).Data.Kind)
	c.RevertTo(id, turn, "conversation")
	require.Empty(t, p.Git("for-each-ref", "refs/appserver"))
	var answer struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(c.Call("thread/turns/list", apptest.Object{"threadId": id}), &answer))
	require.Empty(t, answer.Data)
	c.Close()
}
