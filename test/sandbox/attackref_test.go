//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestRefsOfCapturesLeadNowhereElse replaces a folder of refs or of their logs by a link. Captures create nothing
// behind it.
func TestRefsOfCapturesLeadNowhereElse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"refs/appserver", "logs/refs/appserver", "logs/refs", "logs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, p, outside := apptest.NewScriptedModel(t), apptest.NewRepository(t), t.TempDir()
			at := filepath.Join(p.Dir, ".git", name)
			require.NoError(t, os.RemoveAll(at))
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			require.NoError(t, os.Symlink(outside, at))
			c := apptest.StartServer(t, model.Home(t))
			c.Initialize()
			id := p.StartTrusted(c)
			c.RunScript(id, apptest.ShellCall("echo changed > doc.txt"))
			c.Close()
			left, err := os.ReadDir(outside)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
