package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// untilPatch reads until a patch completes.
func untilPatch(c *apptest.Client) apptest.PatchItem {
	c.T.Helper()
	return apptest.UntilItem[apptest.PatchItem](c, "fileChange")
}

// TestPatchesFollowSandboxPolicy applies patches to a folder: in the workspace without an approval,
// and with one where the policy forbids writes.
func TestPatchesFollowSandboxPolicy(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	project := t.TempDir()
	file := filepath.Join(project, "run.sh")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\necho one\n"), 0o755))
	change := func(from, to string) string {
		return apptest.ShellBlock("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: run.sh\n@@\n-echo " + from + "\n+echo " +
			to + "\n*** End Patch\nEOF\n")
	}
	id := c.StartThread(apptest.Object{"cwd": project, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	c.OnRequest = func(m apptest.Message) any {
		require.Fail(t, "an unexpected approval request", m.Line)
		return nil
	}
	c.BeginTurn(id, change("one", "two"))
	item := untilPatch(c)
	require.Equal(t, "completed", item.Status)
	require.Equal(t, file, item.Changes[0].Path)
	require.Equal(t, "update", item.Changes[0].Kind.Type)
	require.Equal(t, "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo one\n+echo two\n", item.Changes[0].Diff)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\necho two\n", string(content))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	c.Close()
}

// TestPatchApprovalDecisions gives each decision on a patch.
func TestPatchApprovalDecisions(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	project := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": project})
	questions := 0
	for _, d := range []struct {
		decision, file, turn, patch string
		written                     bool
		questions                   int
	}{
		{"decline", "a", "completed", "declined", false, 1},
		{"cancel", "b", "interrupted", "declined", false, 2},
		{"accept", "c", "completed", "completed", true, 3},
		{"acceptForSession", "d", "completed", "completed", true, 4},
		{"decline", "d", "completed", "completed", true, 4},
	} {
		c.OnRequest = func(m apptest.Message) any {
			questions++
			require.Equal(t, "item/fileChange/requestApproval", m.Method)
			require.NoFileExists(t, filepath.Join(project, d.file), "a file was written before the decision")
			return apptest.Object{"decision": d.decision}
		}
		c.BeginTurn(id, apptest.ShellBlock(strings.ReplaceAll(apptest.PatchCommand, "notes/new", d.file)))
		require.Equal(t, d.patch, untilPatch(c).Status, d)
		require.Equal(t, d.turn, c.AwaitTurn().Status, d)
		_, err := os.Stat(filepath.Join(project, d.file))
		require.Equal(t, d.written, err == nil, d)
		require.Equal(t, d.questions, questions, d)
	}
	files, err := os.ReadDir(project)
	require.NoError(t, err)
	require.Len(t, files, 2, "there are other files")
	c.Close()
}

// addFileInput returns an input that makes the offline provider add a file by a patch.
func addFileInput(name string) string {
	return apptest.ShellBlock(strings.ReplaceAll(apptest.PatchCommand, "notes/new", name))
}

// TestPatchesWithAbsoluteNames writes below the working folder or a writable root without an
// approval. Other paths need one, and neither links nor .. lead out.
func TestPatchesWithAbsoluteNames(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	project, root, outside := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(project, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(project, "sub"), 0o755))
	requests := []string{}
	c.OnRequest = func(m apptest.Message) any {
		require.Equal(t, "item/fileChange/requestApproval", m.Method)
		requests = append(requests, m.Method)
		return apptest.Object{"decision": "accept"}
	}
	limits := apptest.Object{"type": "workspaceWrite", "writableRoots": []string{root}}
	patch := func(policy, name string) int {
		requests = requests[:0]
		id := c.StartThread(apptest.Object{"cwd": project})
		c.Call("turn/start",
			apptest.Object{"threadId": id, "input": apptest.TextInput(addFileInput(name)), "approvalPolicy": policy,
				"sandboxPolicy": limits})
		c.AwaitTurn()
		return len(requests)
	}
	for name, file := range map[string]string{
		filepath.Join(project, "a/new"): filepath.Join(project, "a/new"),
		filepath.Join(root, "new"):      filepath.Join(root, "new"),
		"sub/../dots":                   filepath.Join(project, "dots"), project + "/../" + filepath.Base(project) +
			"/up": filepath.Join(project, "up"),
	} {
		require.Zero(t, patch("never", name), name)
		require.FileExists(t, file, name)
	}
	for _, name := range []string{filepath.Join(outside, "new"), "../" + filepath.Base(outside) + "/up",
		filepath.Join(outside, "made/new")} {
		file := name
		if !filepath.IsAbs(name) {
			file = filepath.Join(project, name)
		}
		require.Zero(t, patch("never", name), name)
		require.NoFileExists(t, file, name)
		require.Equal(t, 1, patch("on-request", name), name)
		require.FileExists(t, file, name)
	}
	for _, name := range []string{"link/led", filepath.Join(project, "link/led"), filepath.Join(project, ".git/led"),
		filepath.Join(outside, ".git/led")} {
		require.Zero(t, patch("on-request", name), name)
	}
	require.NoFileExists(t, filepath.Join(outside, "led"))
	require.NoDirExists(t, filepath.Join(project, ".git"))
	require.NoDirExists(t, filepath.Join(outside, ".git"))
	c.Close()
}

// TestPatchItemsHaveAbsoluteNames requires absolute paths in items, whichever way a patch names
// files.
func TestPatchItemsHaveAbsoluteNames(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	project, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "f"), []byte("a\n"), 0o644))
	id := c.StartThread(apptest.Object{"cwd": project, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.BeginTurn(id, apptest.ShellBlock("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: "+project+"/f\n*** Move to: "+
		outside+"/g\n@@\n-a\n+b\n"+
		"*** Add File: f\n+c\n*** End Patch\nEOF\n"))
	item := untilPatch(c)
	require.Equal(t, "completed", item.Status)
	paths := []string{item.Changes[0].Path, item.Changes[1].Path}
	require.ElementsMatch(t, []string{project + "/f", outside + "/g"}, paths)
	c.AwaitTurn()
	moved, err := os.ReadFile(filepath.Join(outside, "g"))
	require.NoError(t, err)
	require.Equal(t, "b\n", string(moved))
	stays, err := os.ReadFile(filepath.Join(project, "f"))
	require.NoError(t, err)
	require.Equal(t, "c\n", string(stays))
	c.Close()
}

// TestPatchesToProtectedFoldersNeedApproval protects .codex and .agents of the workspace and of
// writable roots, because a later start reads them. No link leads into them.
func TestPatchesToProtectedFoldersNeedApproval(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	project, root := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, ".agents"), 0o755))
	require.NoError(t, os.Symlink(".agents", filepath.Join(project, "link")))
	questions, decision := 0, "decline"
	c.OnRequest = func(m apptest.Message) any {
		require.Equal(t, "item/fileChange/requestApproval", m.Method)
		questions++
		return apptest.Object{"decision": decision}
	}
	patch := func(policy, sandbox, name string) int {
		questions = 0
		id := c.StartThread(apptest.Object{"cwd": project,
			"config": apptest.Object{"sandbox_workspace_write.writable_roots": []string{root}}})
		limits := apptest.Object{"type": sandbox}
		if sandbox == "workspaceWrite" {
			limits["writableRoots"] = []string{root}
		}
		c.Call("turn/start",
			apptest.Object{"threadId": id, "input": apptest.TextInput(addFileInput(name)), "approvalPolicy": policy,
				"sandboxPolicy": limits})
		c.AwaitTurn()
		return questions
	}
	for _, name := range []string{".codex/config.toml", ".agents/skills/a/SKILL.md",
		filepath.Join(project, ".Codex/config.toml"), filepath.Join(root, ".codex/config.toml"), ".codex"} {
		file := name
		if !filepath.IsAbs(name) {
			file = filepath.Join(project, name)
		}
		require.Zero(t, patch("never", "workspaceWrite", name), name)
		require.Equal(t, 1, patch("on-request", "workspaceWrite", name), name)
		require.NoFileExists(t, file, name)
	}
	require.Zero(t, patch("on-request", "workspaceWrite", "link/skills/a/SKILL.md"))
	require.NoDirExists(t, filepath.Join(project, ".agents", "skills"))
	require.Zero(t, patch("never", "workspaceWrite", "sub/.codex/config.toml"), "the folder is below no root")
	require.FileExists(t, filepath.Join(project, "sub/.codex/config.toml"))

	decision = "accept"
	require.Equal(t, 1, patch("on-request", "workspaceWrite", ".codex/config.toml"))
	require.FileExists(t, filepath.Join(project, ".codex/config.toml"))
	require.Zero(t, patch("never", "dangerFullAccess", ".agents/skills/a/SKILL.md"))
	require.FileExists(t, filepath.Join(project, ".agents/skills/a/SKILL.md"))
	c.Close()
}
