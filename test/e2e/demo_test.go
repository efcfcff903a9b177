package e2e

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestDemoTranscript compares the output of the demo with docs/transcripts/demo.txt; -update
// rewrites it.
func TestDemoTranscript(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	path := apptest.Root("docs/transcripts/demo.txt")
	server, err := apptest.Binary()
	require.NoError(t, err)
	demo, err := apptest.Build("demo", "./docs/demo")
	require.NoError(t, err)
	cmd := exec.Command(demo, "-stable", "-width", "0", server)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	require.NoError(t, err)
	if *apptest.Update {
		require.NoError(t, os.WriteFile(path, printed, 0o644))
	}
	shown, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(shown), string(printed))
}
