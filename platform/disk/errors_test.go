package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsStateTheNextAction(t *testing.T) {
	for err, advice := range map[error]string{
		syscall.ENOSPC:  "free space on this disk and try again",
		syscall.EDQUOT:  "free space in your quota and try again",
		syscall.EFBIG:   "raise the limit of file sizes (ulimit -f) and try again",
		syscall.EROFS:   "make the disk writable, or set CODEX_HOME to another folder",
		syscall.EMFILE:  "raise the limit of open files (ulimit -n)",
		syscall.EACCES:  "give this user access to it",
		syscall.EEXIST:  "move that file away, or use another thread id",
		syscall.ENOENT:  "check the path",
		errors.New("x"): "try again",
	} {
		got := Wrap("append to", "/p", &fs.PathError{Op: "write", Path: "/p", Err: err})
		require.EqualError(t, got, fmt.Sprintf("cannot append to /p: %v: %s", err, advice))
		require.ErrorIs(t, got, err)
	}
}

func TestErrorsNameEachFileOnce(t *testing.T) {
	other := &fs.PathError{Op: "mkdir", Path: "/q", Err: syscall.EIO}
	err := Wrap("append to", "/p", other)
	require.ErrorContains(t, err, "/p: mkdir /q: input/output error")
	require.Same(t, err, Wrap("open", "/p", err), "an error with advice is unchanged")
	require.NoError(t, Wrap("open", "/p", nil))
}

func TestErrorsWithAdvicePassUnchanged(t *testing.T) {
	for _, err := range []error{&Error{"open", "/q", syscall.EIO}, &KindError{"/p", fs.ModeNamedPipe}} {
		require.Equal(t, err, Wrap("open", "/p", err))
		wrapped := fmt.Errorf("more: %w", err)
		require.Equal(t, wrapped, Wrap("open", "/p", wrapped))
	}
}

func TestKindErrorNamesTheKind(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		fs.ModeDir:                        "/p is a folder, not a regular file: move it away",
		fs.ModeNamedPipe:                  "/p is a named pipe, not a regular file: move it away",
		fs.ModeSocket:                     "/p is a socket, not a regular file: move it away",
		fs.ModeDevice | fs.ModeCharDevice: "/p is a device, not a regular file: move it away",
		fs.ModeIrregular:                  "/p is a special file, not a regular file: move it away",
	} {
		require.EqualError(t, &KindError{"/p", mode}, want)
	}
}
