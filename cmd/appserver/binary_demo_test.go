package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryDemo has the demo print what docs/transcripts/demo.txt shows; -update
// rewrites it.
func TestBinaryDemo(t *testing.T) {
	t.Parallel()
	const path = "../../docs/transcripts/demo.txt"
	server, err := binary()
	require.NoError(t, err)
	demo, err := build("demo", "../../docs/demo")
	require.NoError(t, err)
	cmd := exec.Command(demo, "-stable", "-width", "0", server)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(path, printed, 0o644))
	}
	shown, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(shown), string(printed))
}
