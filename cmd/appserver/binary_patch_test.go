package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aPatch is a command that adds a file.
const aPatch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: notes/new\n+a note\n*** End Patch\nEOF\n"

// runs asks the offline model to run a script of several lines.
func runs(script string) string { return "```sh\n" + script + "```" }

// patchItem is a patch as items show it.
type patchItem struct {
	Type, ID, Status string
	Changes          []struct {
		Path, Diff string
		Kind       struct{ Type string }
	}
}

// untilPatch reads up to the end of a patch.
func (c *client) untilPatch() patchItem {
	c.t.Helper()
	return untilItem[patchItem](c, "fileChange")
}

// TestBinaryAppliesPatches to a real directory: in the workspace without asking, and as
// the user decides where nothing may be written.
func TestBinaryAppliesPatches(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	project := t.TempDir()
	file := filepath.Join(project, "run.sh")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\necho one\n"), 0o755))
	change := func(from, to string) string {
		return runs("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: run.sh\n@@\n-echo " + from + "\n+echo " + to + "\n*** End Patch\nEOF\n")
	}
	id := c.startThread(object{"cwd": project, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	c.onAsk = func(m message) any {
		require.Fail(t, "no question is to be asked", m.line)
		return nil
	}
	c.beginTurn(id, change("one", "two"))
	item := c.untilPatch()
	require.Equal(t, "completed", item.Status)
	require.Equal(t, file, item.Changes[0].Path)
	require.Equal(t, "update", item.Changes[0].Kind.Type)
	require.Equal(t, "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo one\n+echo two\n", item.Changes[0].Diff)
	require.Equal(t, "completed", c.awaitTurn().Status)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\necho two\n", string(content))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	c.close()
}

// TestBinaryAsksBeforeItPatches gives each decision on a patch.
func TestBinaryAsksBeforeItPatches(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	project := t.TempDir()
	id := c.startThread(object{"cwd": project})
	asked := 0
	for _, d := range []struct {
		decision, file, turn, patch string
		written                     bool
		asked                       int
	}{
		{"decline", "a", "completed", "declined", false, 1},
		{"cancel", "b", "interrupted", "declined", false, 2},
		{"accept", "c", "completed", "completed", true, 3},
		{"acceptForSession", "d", "completed", "completed", true, 4},
		{"decline", "d", "completed", "completed", true, 4},
	} {
		c.onAsk = func(m message) any {
			asked++
			require.Equal(t, "item/fileChange/requestApproval", m.Method)
			require.NoFileExists(t, filepath.Join(project, d.file), "nothing is written before the answer")
			return object{"decision": d.decision}
		}
		c.beginTurn(id, runs(strings.ReplaceAll(aPatch, "notes/new", d.file)))
		require.Equal(t, d.patch, c.untilPatch().Status, d)
		require.Equal(t, d.turn, c.awaitTurn().Status, d)
		_, err := os.Stat(filepath.Join(project, d.file))
		require.Equal(t, d.written, err == nil, d)
		require.Equal(t, d.asked, asked, d)
	}
	files, err := os.ReadDir(project)
	require.NoError(t, err)
	require.Len(t, files, 2, "nothing else lies there")
	c.close()
}
