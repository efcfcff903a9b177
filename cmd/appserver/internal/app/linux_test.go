//go:build linux

package app

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func pipeSize(t *testing.T, pipe *os.File) int {
	t.Helper()
	size, err := unix.FcntlInt(pipe.Fd(), unix.F_GETPIPE_SZ, 0)
	require.NoError(t, err)
	return size
}

// TestGrowPipeIncreasesSize checks the size at the end of the reader.
func TestGrowPipeIncreasesSize(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.Less(t, pipeSize(t, r), maxPipe)
	growPipe(w)
	require.Equal(t, maxPipe, pipeSize(t, r))
}

func TestGrowPipeNeverShrinksPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	size, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 2*maxPipe)
	if err != nil {
		size = pipeSize(t, r) // only root can exceed maxPipe
	}
	growPipe(w)
	require.GreaterOrEqual(t, pipeSize(t, r), size)
}

func TestGrowPipeIgnoresOtherFiles(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	growPipe(file)
	_, err = file.WriteString("still written")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	growPipe(file) // closed: the first write returns the error
	var buffer bytes.Buffer
	growPipe(&buffer)
	require.Zero(t, buffer.Len())
}

// TestAwaitExitEndsWithContext waits for the parent of the test, which does not exit. Another process is not the
// parent, as after the exit of the parent.
func TestAwaitExitEndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	exited := make(chan bool, 1)
	go func() { exited <- awaitExit(ctx, os.Getppid()) }()
	cancel()
	require.False(t, <-exited)
	require.True(t, awaitExit(t.Context(), os.Getpid()))
}

// TestEnvironmentIsErased checks the bounds that the kernel reports, and what is left of the variables.
func TestEnvironmentIsErased(t *testing.T) {
	start, end, err := environmentBounds("1 (a) b) R" + strings.Repeat(" 0", 46) + " 100 220 0")
	require.NoError(t, err)
	require.Equal(t, []int64{100, 220}, []int64{start, end})
	for _, wrong := range []string{
		"", "1 (a) R 0", "1 (a) R" + strings.Repeat(" x", 50), "1 (a) R" + strings.Repeat(" 0", 46) + " 9 1 0",
	} {
		_, _, err := environmentBounds(wrong)
		require.Error(t, err, wrong)
	}
	block := "A=secret\x00CODEX_HOME=/home\x00\x00no name\x00B=\x00C=x=y\x00"
	require.Equal(t, "A\x00\x00\x00\x00\x00\x00\x00\x00CODEX_HOME=/home\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00B\x00\x00C\x00\x00\x00\x00\x00",
		string(withoutValues([]byte(block))))
	require.Len(t, withoutValues([]byte(block)), len(block))
	require.Empty(t, withoutValues(nil))
}
