package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// project is a directory in which an agent and its user work.
type project struct {
	t   *testing.T
	dir string
}

// newRepository is a repository with files of every kind: staged, changed, deleted,
// untracked and ignored.
func newRepository(t *testing.T) project {
	t.Helper()
	return newRepositoryIn(t, t.TempDir())
}

func newRepositoryIn(t *testing.T, dir string) project {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	p := project{t, dir}
	p.git("init", "-q")
	p.write(".gitignore", "*.log\n")
	p.write("doc.txt", "one\ntwo\nthree\n")
	p.write("gone.txt", "gone\n")
	p.write("run.sh", "#!/bin/sh\necho run, and more than that\necho so that it is known again\n")
	p.write("staged.txt", "a\n")
	p.git("add", "-A")
	p.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first")
	p.write("staged.txt", "b\n")
	p.git("add", "staged.txt")
	p.write("untracked.txt", "mine\n")
	p.write("out.log", "ignored\n")
	p.git("status") // so that the index is as git leaves it
	return p
}

func (p project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", p.dir, "-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "git %v: %s", args, out)
	return string(out)
}

func (p project) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

// files are what the directory holds, by their paths, but for those that git ignores.
func (p project) files() map[string]string {
	p.t.Helper()
	files := map[string]string{}
	require.NoError(p.t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(p.dir, path)
		switch {
		case err != nil:
			return err
		case name == ".git" && d.IsDir():
			return filepath.SkipDir
		case name == ".git":
			return nil
		case d.IsDir(), strings.HasSuffix(name, ".log"):
			return nil
		}
		text, err := os.ReadFile(path)
		info, _ := d.Info()
		if info.Mode()&0o100 != 0 {
			name += " (executable)"
		}
		files[name] = string(text)
		return err
	}))
	return files
}

// copied is another directory with the same files.
func (p project) copied() project {
	p.t.Helper()
	other := project{p.t, filepath.Join(p.t.TempDir(), "copy")}
	out, err := exec.Command("cp", "-a", p.dir, other.dir).CombinedOutput()
	require.NoError(p.t, err, string(out))
	return other
}

// takes checks that git makes of the project, by a diff, what another one holds.
func (p project) takes(diff string, want map[string]string) {
	p.t.Helper()
	require.Equal(p.t, want, p.applies(diff).files(), diff)
}

// applies is a copy to which git has applied a diff.
func (p project) applies(diff string) project {
	p.t.Helper()
	other := p.copied()
	name := filepath.Join(p.t.TempDir(), "diff")
	require.NoError(p.t, os.WriteFile(name, []byte(diff), 0o600))
	if diff != "" {
		other.git("apply", name)
	}
	return other
}

// gitState is what git keeps beside the objects.
func (p project) gitState() []string {
	p.t.Helper()
	state := []string{p.git("status", "--porcelain=v2", "--branch"), p.git("stash", "list"), p.git("reflog", "-10")}
	for _, name := range []string{"index", "HEAD", "config"} {
		text, err := os.ReadFile(filepath.Join(p.dir, ".git", name))
		require.NoError(p.t, err)
		state = append(state, string(text))
	}
	return state
}

// changes is a turn whose commands change files. Git applies each diff that is sent on the way;
// the last one gives the files of the end. The files may be ahead of an earlier one.
func (p project) changes(c *client, thread, words string) (turn string, end message) {
	p.t.Helper()
	before := p.copied()
	turn = c.beginTurn(thread, words)
	var diffs []string
	end = c.until(func(m message) bool {
		if m.Method == "turn/diff/updated" {
			require.Equal(p.t, turn, gjson.GetBytes(m.Params, "turnId").Str)
			diffs = append(diffs, gjson.GetBytes(m.Params, "diff").Str)
		}
		return m.Method == "turn/completed"
	})
	require.Equal(p.t, "completed", gjson.GetBytes(end.Params, "turn.status").Str)
	for i, diff := range diffs {
		if i < len(diffs)-1 {
			before.applies(diff)
		} else {
			before.takes(diff, p.files())
		}
	}
	return turn, end
}

func (c *client) get(method string, params object) gjson.Result {
	c.t.Helper()
	return gjson.ParseBytes(c.call(method, params))
}

func (c *client) revertTo(thread, id, mode string) gjson.Result {
	c.t.Helper()
	return c.get("thread/checkpoint/revert", object{"threadId": thread, "turnId": id, "mode": mode})
}

const (
	patchOfStory = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: doc.txt\n@@\n one\n-two\n+2\n three\n*** Add File: sub/new.txt\n+new\n*** End Patch\nEOF\n"
	shellOfStory = "printf 'all new\\n' > doc.txt\nrm gone.txt\nmv run.sh tool.sh\nchmod +x untracked.txt\nprintf 'a\\0b' > data.bin\nprintf x > more.log\n"
)

// TestBinaryTakesBackWhatTurnsDid is a day with a thread: a patch, a command, edits of the user
// between, and ways back, over a trim, a resume and a crash.
func TestBinaryTakesBackWhatTurnsDid(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), newRepository(t)
	c := startOffline(t, home)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	git, atFirst := p.gitState(), p.files()
	first, end := p.changes(c, id, runs(patchOfStory))
	require.JSONEq(t, `{"filesModified":1,"filesCreated":1,"filesDeleted":0,"totalAdditions":2,"totalDeletions":1,"files":[
		{"path":"doc.txt","oldPath":null,"kind":"modified","additions":1,"deletions":1,"binary":false},
		{"path":"sub/new.txt","oldPath":null,"kind":"created","additions":1,"deletions":0,"binary":false}]}`, gjson.GetBytes(end.Params, "metadata.diff").Raw)

	p.write("mine.txt", "of the user\n")
	p.write("staged.txt", "of the user\n")
	beforeSecond := p.files()
	second, end := p.changes(c, id, runs(shellOfStory))
	require.Equal(t, int64(1), gjson.GetBytes(end.Params, "metadata.diff.filesDeleted").Int())
	require.Equal(t, "renamed", gjson.GetBytes(end.Params, `metadata.diff.files.#(path=="tool.sh").kind`).Str)
	require.Equal(t, "run.sh", gjson.GetBytes(end.Params, `metadata.diff.files.#(path=="tool.sh").oldPath`).Str)
	require.True(t, gjson.GetBytes(end.Params, `metadata.diff.files.#(path=="data.bin").binary`).Bool())
	afterSecond := p.files()
	afterGit := p.gitState()
	require.Equal(t, git[1:], afterGit[1:], "stash, reflog, index, HEAD and config")

	net := c.get("thread/diff/read", object{"threadId": id})
	require.NotContains(t, net.Get("diff").Str, "mine.txt")
	require.Len(t, net.Get("turns").Array(), 2)
	require.Equal(t, p.dir, net.Get("roots.0").Str)
	require.Contains(t, c.get("thread/diff/read", object{"threadId": id, "turnId": first}).Get("diff").Str, "+2\n")
	require.Contains(t, c.get("thread/checkpoint/diff", object{"threadId": id, "turnId": first}).Get("diff").Str, "mine.txt")

	dry := c.get("thread/checkpoint/revert", object{"threadId": id, "turnId": second, "mode": "files", "dryRun": true})
	require.Equal(t, afterSecond, p.files())
	p.takes(dry.Get("diff").Str, beforeSecond)
	undo := c.revertTo(id, second, "files").Get("undoCheckpointId").Str
	require.Equal(t, beforeSecond, p.files(), "the user's own changes stay")
	c.revertTo(id, undo, "files")
	require.Equal(t, afterSecond, p.files())

	c.call("thread/context/trim", object{"threadId": id})
	c.kill()
	c = startOffline(t, home)
	p.write("doc.txt", "of the user\n")
	for _, mode := range []string{"files", "both"} {
		m := c.request("thread/checkpoint/revert", object{"threadId": id, "turnId": second, "mode": mode})
		require.Equal(t, "checkpointConflict", gjson.Get(m.line, "error.data.kind").Str)
		require.Equal(t, filepath.Join(p.dir, "doc.txt"), gjson.Get(m.line, "error.data.paths.0").Str)
	}
	p.write("doc.txt", "all new\n")
	require.Equal(t, afterSecond, p.files(), "nothing was written")
	c.call("thread/resume", object{"threadId": id})
	require.Len(t, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data").Array(), 4)
	answer := c.revertTo(id, first, "both")
	require.Len(t, answer.Get("removedTurnIds").Array(), 2)
	require.Empty(t, c.readThread(id).Turns)
	want := atFirst
	want["mine.txt"], want["staged.txt"] = "of the user\n", "of the user\n"
	require.Equal(t, want, p.files())
	c.close()
}

// TestBinaryKeepsCheckpoints of as many turns as it is told, for as long as the thread is there.
func TestBinaryKeepsCheckpoints(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), newRepository(t)
	c := startOffline(t, home, "-c", "checkpoints.keep=2")
	id := c.startThread(object{"cwd": filepath.Join(p.dir), "sandbox": "workspace-write"})
	var turns []string
	for _, text := range []string{"1", "2", "3"} {
		turn, _ := p.changes(c, id, "run: printf "+text+" > doc.txt")
		turns = append([]string{turn}, turns...)
	}
	refs := func() []string {
		return strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/appserver/"+id))
	}
	list := c.get("thread/checkpoint/list", object{"threadId": id, "limit": 1})
	require.Equal(t, turns[0], list.Get("data.0.id").Str)
	list = c.get("thread/checkpoint/list", object{"threadId": id, "cursor": list.Get("nextCursor").Str})
	require.Equal(t, turns[1], list.Get("data.0.id").Str)
	require.Len(t, list.Get("data").Array(), 1)
	require.Equal(t, "checkpointNotFound", c.refused("thread/checkpoint/revert", object{"threadId": id, "turnId": turns[2], "mode": "files"}).Data.Kind)
	require.Contains(t, refs(), "refs/appserver/"+id+"/"+turns[0])

	c.call("thread/archive", object{"threadId": id})
	require.Len(t, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data").Array(), 2)
	require.Equal(t, "threadArchived", c.refused("thread/checkpoint/revert", object{"threadId": id, "turnId": turns[0], "mode": "files"}).Data.Kind)
	require.NotEmpty(t, c.get("thread/checkpoint/diff", object{"threadId": id, "turnId": turns[1]}).Get("diff").Str)
	p.write("staged.txt", "captured, and kept by nothing\n")
	require.Contains(t, c.get("thread/checkpoint/diff", object{"threadId": id, "turnId": turns[0]}).Get("diff").Str, "kept by nothing")
	p.git("gc", "-q", "--prune=now")
	c.call("thread/unarchive", object{"threadId": id})
	c.revertTo(id, turns[1], "files")
	require.Equal(t, "1", p.files()["doc.txt"])
	c.call("thread/delete", object{"threadId": id})
	require.Empty(t, refs())
	c.close()
}

// TestBinaryWorksOutsideOfRepositories, and in worktrees that are too large.
func TestBinaryWorksOutsideOfRepositories(t *testing.T) {
	t.Parallel()
	p := project{t, t.TempDir()}
	p.write("a.txt", "one\n")
	c := startOffline(t, t.TempDir())
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access"})
	turn, _ := p.changes(c, id, "run: mkdir d && mv a.txt d/b.txt")
	c.revertTo(id, turn, "both")
	require.Equal(t, map[string]string{"a.txt": "one\n"}, p.files())
	require.NoDirExists(t, filepath.Join(p.dir, ".git"))
	c.close()

	c = startOffline(t, t.TempDir(), "-c", "checkpoints.max_files=1")
	p.write("b.txt", "two\n")
	id = c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access"})
	c.beginTurn(id, "run: echo three > c.txt")
	require.Contains(t, gjson.GetBytes(c.untilMethod("warning").Params, "message").Str, "more than 1 files")
	require.Equal(t, "completed", c.awaitTurn().Status)
	require.Empty(t, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data").Array())
	p.changes(c, id, runs("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\nEOF\n"))
	require.Contains(t, c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str, "deleted file")
	c.close()
}

// TestBinaryWithoutCheckpoints still tells what patches change.
func TestBinaryWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	c := startOffline(t, t.TempDir(), "-c", "checkpoints.enabled=false")
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access"})
	turn, end := p.changes(c, id, runs(patchOfStory))
	require.Equal(t, int64(1), gjson.GetBytes(end.Params, "metadata.diff.filesCreated").Int())
	c.turn(id, "run: rm gone.txt")
	require.Len(t, c.get("thread/diff/read", object{"threadId": id}).Get("turns").Array(), 1)
	require.Empty(t, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data").Array())
	require.Equal(t, "checkpointsOff", c.refused("thread/checkpoint/revert", object{"threadId": id, "turnId": turn, "mode": "files"}).Data.Kind)
	c.revertTo(id, turn, "conversation")
	require.Empty(t, p.git("for-each-ref", "refs/appserver"))
	var answer struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(c.call("thread/turns/list", object{"threadId": id}), &answer))
	require.Empty(t, answer.Data)
	c.close()
}
