package rollout

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// NotFoundError tells that no file carries the thread's id.
type NotFoundError struct{ ID string }

// Error begins as the reference implementation's does.
func (e *NotFoundError) Error() string { return "no rollout found for thread id " + e.ID }

// NotArchivedError tells that no file in the archive carries the thread's id.
type NotArchivedError struct{ ID string }

// Error begins as the reference implementation's does.
func (e *NotArchivedError) Error() string {
	return "no archived rollout found for thread id " + e.ID
}

// LockedError tells that the thread has another writer, here or in another process.
type LockedError struct{ ID string }

// Error begins as the reference implementation's does.
func (e *LockedError) Error() string {
	return "thread " + e.ID + " already has an active writer: close it there, or end the program that has it open"
}

// CursorError tells that a cursor was not made by List, or for another SortKey.
type CursorError struct{ Cursor string }

// Error shows the cursor.
func (e *CursorError) Error() string {
	return "invalid cursor: " + e.Cursor + " (use one that a list with the same sort key returned)"
}

// NameError tells that a file's name or an id is not that of a thread.
type NameError struct{ Name string }

// Error shows what was taken for a name.
func (e *NameError) Error() string {
	return fmt.Sprintf("%q has no thread id: expected rollout-<time>-<UUID>.jsonl", e.Name)
}

// KindError tells that something other than a regular file is in the place of one.
type KindError struct {
	Path string
	Mode fs.FileMode
}

// Error names the kind.
func (e *KindError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file: move it away", e.Path, fileKind(e.Mode))
}

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

// BackupError tells why a rollout's backup is of no use.
type BackupError struct {
	// Path is the backup's.
	Path string
	// Reason is said of the path: is missing, is damaged, …
	Reason string
	// Whole is set where the rollout is whole and so lacks nothing without it.
	Whole bool
	// Err is what the system said, nil where it said nothing.
	Err error
}

// Error ends with the consequence, and what may help.
func (e *BackupError) Error() string {
	reason := e.Reason
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	return e.Path + " " + reason + ": " + e.consequence()
}

func (e *BackupError) consequence() string {
	failed := isEnvironment(e.Err)
	switch {
	case e.Whole && failed:
		return "the rollout is whole, but cannot be rewritten until it can be: " + advice(e.Err)
	case failed:
		return "excluded items cannot be shown or brought back until it can be: " + advice(e.Err)
	case e.Whole && e.Reason == backupMissing:
		return "the rollout is whole and needs none"
	case e.Whole:
		return "the rollout is whole, but cannot be rewritten until that file is moved away"
	case e.Reason == backupAhead:
		return "they stay, and the rollout is not rewritten, until a rollout that knows of them is put back or they are removed"
	}
	return "excluded items cannot be shown or brought back until the right one is put back"
}

// IsShortage tells that the disk, or the process, lacks what a file needs: nothing is wrong with
// the file.
func IsShortage(err error) bool {
	return isAny(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EMFILE, syscall.ENFILE)
}

// MayPass tells of an error that says nothing of what is there: a file that cannot be read for it
// now may be read later.
func IsTransient(err error) bool { return IsShortage(err) || errors.Is(err, syscall.EIO) }

// isOutside tells that it may not be the file with which something is wrong.
func isEnvironment(err error) bool {
	return IsShortage(err) || isAny(err, syscall.EIO, fs.ErrPermission)
}

func isAny(err error, any ...error) bool {
	return slices.ContainsFunc(any, func(one error) bool { return errors.Is(err, one) })
}

// Unwrap is what the system said.
func (e *BackupError) Unwrap() error { return e.Err }

// Reasons of a BackupError.
const (
	backupMissing    = "is missing"
	backupUnreadable = "cannot be read"
	backupForeign    = "is not the backup of this thread"
	backupOther      = "is not an earlier state of this rollout"
	backupDamaged    = "is damaged"
	backupUnnamed    = "cannot be checked, since the rollout's context_backup line is damaged"
	backupAhead      = "holds lines at its end that the rollout does not know of"
)

// DiskError tells what could not be done to which file, and what may help.
type DiskError struct {
	// Op is a verb: append to, open, read, …
	Op   string
	Path string
	Err  error
}

// Error ends with the advice.
func (e *DiskError) Error() string {
	return fmt.Sprintf("cannot %s %s: %v: %s", e.Op, e.Path, e.Err, advice(e.Err))
}

// Unwrap is what the system said.
func (e *DiskError) Unwrap() error { return e.Err }

// diskError is nil for nil, and leaves alone what explains itself already.
func diskError(op, path string, err error) error {
	var pathErr *fs.PathError
	var locked *LockedError
	var special *KindError
	var already *DiskError
	var backup *BackupError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &locked), errors.As(err, &special), errors.As(err, &already), errors.As(err, &backup):
		return err
	case errors.As(err, &pathErr) && pathErr.Path == path:
		err = pathErr.Err
	}
	return &DiskError{op, path, err}
}

var (
	errTooLarge = errors.New("it is larger than 2 GiB")
	errClosed   = errors.New("the log is closed")
	errPayload  = errors.New("its payload is not JSON")
	errNoType   = errors.New("it has no type")
	errMoved    = errors.New("it is a link, or its name leads to another file by now")
	errChanged  = errors.New("another program has written to it meanwhile")
	errOutside  = errors.New("it does not lie below sessions or archived_sessions")
	errUndated  = errors.New("its name does not begin with rollout-YYYY-MM-DDThh-mm-ss")
	errEmpty    = errors.New("it is empty")
	errUnlike   = errors.New("what was made of it would not load as it does")
	errForeign  = errors.New("its session_meta is that of another thread")
)

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
	{ErrHeld, "another program holds it; end that and try again"},
	{errTooLarge, "it is left as it is, and can be resumed and read"},
	{errClosed, "open it again"},
	{errPayload, "nothing was written; this is a fault of the caller"},
	{errMoved, "it is left as it is; open the file itself"},
	{errChanged, "it is left as it is; end that program"},
	{ErrChanged, "resume the thread"},
	{errEmpty, "remove it, or put a copy back"},
	{errUnlike, "it is left as it is; this is a fault of this program"},
	{errForeign, "it is left as it is; give it the name of its thread"},
	{errOutside, "move it there first"},
	{errUndated, "give it such a name"},
	{errNoType, "nothing was written; this is a fault of the caller"},
}

func advice(err error) string {
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return r.text
		}
	}
	return "try again"
}

// absent tells whether an error says that there is no such file, be it that what
// should be a folder above it is none.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
