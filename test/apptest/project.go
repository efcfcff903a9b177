package apptest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// Project is the working folder of an agent and its user.
type Project struct {
	T   *testing.T
	Dir string
}

// NewRepository creates a repository with staged, changed, deleted, untracked and ignored files.
func NewRepository(t *testing.T) Project {
	t.Helper()
	return NewRepositoryIn(t, t.TempDir())
}

// NewRepositoryIn creates the repository of NewRepository in a folder.
func NewRepositoryIn(t *testing.T, dir string) Project {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	p := Project{t, dir}
	p.Git("init", "-q")
	p.Write(".gitignore", "*.log\n")
	p.Write("doc.txt", "one\ntwo\nthree\n")
	p.Write("gone.txt", "gone\n")
	p.Write("run.sh", "#!/bin/sh\necho run, and more than that\necho so that it is known again\n")
	p.Write("staged.txt", "a\n")
	p.Git("add", "-A")
	p.Git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first")
	p.Write("staged.txt", "b\n")
	p.Git("add", "staged.txt")
	p.Write("untracked.txt", "mine\n")
	p.Write("out.log", "ignored\n")
	p.Git("status") // refreshes git's index, as git status of a user would
	return p
}

// Git runs git without the settings of the machine, and returns its output.
func (p Project) Git(args ...string) string {
	p.T.Helper()
	cmd := exec.Command("git", append([]string{"-C", p.Dir, "-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	require.NoError(p.T, err, "git %v: %s", args, out)
	return string(out)
}

// Write writes a file of the project.
func (p Project) Write(name, text string) {
	p.T.Helper()
	require.NoError(p.T, os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o644))
}

// Files returns the contents of all files by path, without ignored files.
func (p Project) Files() map[string]string {
	p.T.Helper()
	files := map[string]string{}
	require.NoError(p.T, filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(p.Dir, path)
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

// clone copies the files to another folder.
func (p Project) clone() Project {
	p.T.Helper()
	other := Project{p.T, filepath.Join(p.T.TempDir(), "copy")}
	out, err := exec.Command("cp", "-a", p.Dir, other.Dir).CombinedOutput()
	require.NoError(p.T, err, string(out))
	return other
}

// RequireDiff checks that git turns the project into the wanted files by applying the diff.
func (p Project) RequireDiff(diff string, want map[string]string) {
	p.T.Helper()
	require.Equal(p.T, want, p.applied(diff).Files(), diff)
}

// applied returns a copy of the project with a diff applied by git.
func (p Project) applied(diff string) Project {
	p.T.Helper()
	other := p.clone()
	name := filepath.Join(p.T.TempDir(), "diff")
	require.NoError(p.T, os.WriteFile(name, []byte(diff), 0o600))
	if diff != "" {
		other.Git("apply", name)
	}
	return other
}

// RunChanges runs a turn whose commands change files. It checks that each notified diff applies
// with git, and that the last one produces the final files. The files may be newer than an earlier
// diff.
func (p Project) RunChanges(c *Client, thread, input string) (turn string, end Message) {
	p.T.Helper()
	before := p.clone()
	turn = c.BeginTurn(thread, input)
	var diffs []string
	end = c.Until(func(m Message) bool {
		if m.Method == "turn/diff/updated" {
			require.Equal(p.T, turn, gjson.GetBytes(m.Params, "turnId").Str)
			diffs = append(diffs, gjson.GetBytes(m.Params, "diff").Str)
		}
		return m.Method == "turn/completed"
	})
	require.Equal(p.T, "completed", gjson.GetBytes(end.Params, "turn.status").Str)
	for i, diff := range diffs {
		if i < len(diffs)-1 {
			before.applied(diff)
		} else {
			before.RequireDiff(diff, p.Files())
		}
	}
	return turn, end
}

// CallJSON does the same as Call, with a parsed result.
func (c *Client) CallJSON(method string, params Object) gjson.Result {
	c.T.Helper()
	return gjson.ParseBytes(c.Call(method, params))
}

// RevertTo reverts to a checkpoint: files, conversation or both.
func (c *Client) RevertTo(thread, id, mode string) gjson.Result {
	c.T.Helper()
	return c.CallJSON("thread/checkpoint/revert", Object{"threadId": thread, "turnId": id, "mode": mode})
}

// StartTrusted starts a thread in the project. Its commands need no approval and have no sandbox.
func (p Project) StartTrusted(c *Client) string {
	p.T.Helper()
	return c.StartThread(Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
}
