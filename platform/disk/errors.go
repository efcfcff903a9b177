package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"appserver/platform/osfile"
)

// Error reports a failed operation on a file.
type Error struct {
	// Op is a verb: append to, open, read, …
	Op   string
	Path string
	Err  error
}

// Error ends with the next action.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot %s %s: %v: %s", e.Op, e.Path, e.Err, Advice(e.Err))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Advised implements Advised.
func (e *Error) Advised() {}

// KindError reports that a path leads to something other than a regular file.
type KindError struct {
	Path string
	Mode fs.FileMode
}

// Error returns a message with the kind of file.
func (e *KindError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file: move it away", e.Path, fileKind(e.Mode))
}

// Advised implements Advised.
func (e *KindError) Advised() {}

func fileKind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// Advised is an error whose text has the path of the file and the next action.
type Advised interface {
	error
	Advised()
}

// Cause is the cause of an Error that is not an error of the system.
type Cause struct {
	// Text describes the cause.
	Text string
	// Next is the next action.
	Next string
}

// Error returns the text without the next action.
func (c Cause) Error() string { return c.Text }

// Wrap returns err as an *Error. It returns nil for nil, and an error that wraps an Advised
// unchanged.
func Wrap(op, path string, err error) error {
	var pathErr *fs.PathError
	var advised Advised
	switch {
	case err == nil:
		return nil
	case errors.As(err, &advised):
		return err
	case errors.As(err, &pathErr) && pathErr.Path == path:
		err = pathErr.Err
	}
	return &Error{op, path, err}
}

// IsShortage reports whether err is caused by a limit of the disk or the process. The file
// itself is intact.
func IsShortage(err error) bool {
	return isAny(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EMFILE, syscall.ENFILE)
}

// IsTransient reports whether a later attempt to read the file may succeed.
func IsTransient(err error) bool { return IsShortage(err) || isAny(err, syscall.EIO) }

// TransientOnly returns err if it is transient, or nil.
func TransientOnly(err error) error {
	if IsTransient(err) {
		return err
	}
	return nil
}

// IsEnvironment reports whether the cause of err may be outside of the file.
func IsEnvironment(err error) bool {
	return IsTransient(err) || errors.Is(err, fs.ErrPermission)
}

// IsNotExist reports whether err means that there is no such file, or that a parent is not a
// folder.
func IsNotExist(err error) bool { return isAny(err, fs.ErrNotExist, syscall.ENOTDIR) }

func isAny(err error, any ...error) bool {
	return slices.ContainsFunc(any, func(one error) bool { return osfile.Is(err, one) })
}

var remedies = []struct {
	err  error
	text string
}{
	{syscall.ENOSPC, "free space on this disk and try again"},
	{syscall.EDQUOT, "free space in your quota and try again"},
	{syscall.EFBIG, "raise the limit of file sizes (ulimit -f) and try again"},
	{syscall.EIO, "the disk reports errors; check it, then try again"},
	{syscall.EROFS, "make the disk writable, or set CODEX_HOME to another folder"},
	{syscall.ELOOP, "the link leads back to itself; remove it"},
	{syscall.EMFILE, "raise the limit of open files (ulimit -n)"},
	{syscall.ENFILE, "too many files are open on this machine; close some programs"},
	{fs.ErrPermission, "give this user access to it"},
	{fs.ErrExist, "move that file away, or use another thread id"},
	{fs.ErrNotExist, "check the path"},
	{ErrHeld, "another program holds it; end that program and try again"},
}

// Advice returns the next action for an error: a known error of the system, a Cause, or else to
// try again.
func Advice(err error) string {
	for _, r := range remedies {
		if osfile.Is(err, r.err) {
			return r.text
		}
	}
	if cause := new(Cause); errors.As(err, cause) {
		return cause.Next
	}
	return "try again"
}
