//go:build linux

package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func roomOf(t *testing.T, pipe *os.File) int {
	t.Helper()
	room, err := unix.FcntlInt(pipe.Fd(), unix.F_GETPIPE_SZ, 0)
	require.NoError(t, err)
	return room
}

// TestLongLinesHaveRoomInThePipe looks at the pipe from the client's side.
func TestLongLinesHaveRoomInThePipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.Less(t, roomOf(t, r), pipeBytes)
	widen(w)
	require.Equal(t, pipeBytes, roomOf(t, r))
}

func TestAPipeNeverShrinks(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	room, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 2*pipeBytes)
	if err != nil {
		room = roomOf(t, r) // who is not root may not have more than that
	}
	widen(w)
	require.GreaterOrEqual(t, roomOf(t, r), room)
}

func TestWhatIsNoPipeIsLeftAlone(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	widen(file)
	_, err = file.WriteString("still written")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	widen(file) // closed: the first answer will tell
	var buffer bytes.Buffer
	widen(&buffer)
	require.Zero(t, buffer.Len())
}
