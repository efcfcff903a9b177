package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
)

// TestRulesOfAProjectLeadNowhereElse reads a link within the project, and names one that leads out of it.
func TestRulesOfAProjectLeadNowhereElse(t *testing.T) {
	project, outside := t.TempDir(), t.TempDir()
	rule := []byte(`prefix_rule(pattern=["rm"], decision="forbidden")` + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(project, "own"), rule, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), rule, 0o644))
	folder := filepath.Join(project, "rules")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.Symlink("../own", filepath.Join(folder, "a.rules")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(folder, "b.rules")))
	rules, warnings := workspace.CommandRules(folder, project)
	require.Len(t, rules, 1)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[1], "b.rules")
}
