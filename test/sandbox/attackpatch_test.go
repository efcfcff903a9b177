//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestPatchesStayInTheWorkspaceDuringARace applies patches in every form while a command exchanges a folder and a link:
// to another folder, and to the hooks of the repository. No patch may write, change, move or delete there.
func TestPatchesStayInTheWorkspaceDuringARace(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"outside", "hooks"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			project, outside := t.TempDir(), t.TempDir()
			hooks := filepath.Join(project, ".git", "hooks")
			require.NoError(t, os.MkdirAll(hooks, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(project, ".git", "config"), nil, 0o644))
			link := outside
			if target == "hooks" {
				outside, link = hooks, filepath.Join(".git", "hooks")
			}
			for _, name := range []string{"keep", "gone", "moved"} {
				require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte("a\n"), 0o644))
			}
			r := startRace(t, project, link)
			for n := 0; r.goesOn(); n++ {
				r.Turn(r.thread, apptest.ScriptText(patchesIn(project, n)...))
			}
			require.Equal(t, []string{"gone", "keep", "moved"}, names(t, outside))
			for _, name := range []string{"keep", "gone", "moved"} {
				content, err := os.ReadFile(filepath.Join(outside, name))
				require.NoError(t, err)
				require.Equal(t, "a\n", string(content))
			}
			r.Close()
		})
	}
}

// patchesIn returns calls with patches in the folder sub of a project: by relative and absolute names, and in the
// folder as the working directory of a script.
func patchesIn(project string, n int) (answers [][]apptest.ToolCall) {
	name := fmt.Sprintf("f%d", n)
	for _, lines := range []string{
		"*** Add File: sub/" + name + "\n+x",
		"*** Add File: " + project + "/sub/a" + name + "\n+x",
		"*** Add File: sub/deep/" + name + "\n+x",
		"*** Update File: sub/keep\n@@\n-a\n+b",
		"*** Update File: sub/moved\n*** Move to: sub/" + name + "\n@@\n-a\n+b",
		"*** Delete File: sub/gone",
	} {
		text := "*** Begin Patch\n" + lines + "\n*** End Patch"
		answers = append(answers, apptest.OneCall("apply_patch", apptest.Object{"input": text}))
	}
	for i := range 20 {
		text := fmt.Sprintf("*** Begin Patch\n*** Add File: w%s-%d\n+x\n*** End Patch", name, i)
		answers = append(answers, apptest.OneCall("shell",
			apptest.Object{"workdir": "sub", "command": "apply_patch <<'EOF'\n" + text + "\nEOF"}))
	}
	return answers
}
