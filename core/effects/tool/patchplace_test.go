//go:build unix

package tool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
)

// TestApprovedNamesLeadThroughNoPlantedLink patches files outside of the workspace, as a user may approve. A link in
// a directory where commands can write is rejected, because they can replace it after the approval.
func TestApprovedNamesLeadThroughNoPlantedLink(t *testing.T) {
	workspace := folder(t, nil)
	above, err := os.UserHomeDir() // not below a temporary directory, as the checkout may be
	require.NoError(t, err)
	target, err := os.MkdirTemp(above, "patch")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(target) })
	require.NoError(t, os.Mkdir(filepath.Join(target, "real"), 0o755))
	require.NoError(t, os.Symlink("real", filepath.Join(target, "link")))
	planted := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(target, "real"), filepath.Join(planted, "d")))

	plan := func(name string) error {
		text := "*** Begin Patch\n*** Add File: " + name + "\n+x\n*** End Patch"
		return Patcher{}.Plan(core.PlanPatch{Dir: workspace, Root: workspace, Roots: []string{workspace}, Protect: true,
			Text: text}).Err
	}
	require.ErrorContains(t, plan(planted+"/d/new"), "is a link where commands can write")
	require.ErrorContains(t, plan(planted+"/d/deep/new"), "is a link where commands can write")
	require.NoError(t, plan(target+"/link/new"), "commands cannot replace this link")
	require.NoError(t, plan(planted+"/new"))
}
