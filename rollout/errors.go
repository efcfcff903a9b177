package rollout

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// NotFoundError reports that no rollout of a thread exists.
type NotFoundError struct{ ID string }

// Error begins with the message of the reference implementation.
func (e *NotFoundError) Error() string { return "no rollout found for thread id " + e.ID }

// NotArchivedError reports that no archived rollout of a thread exists.
type NotArchivedError struct{ ID string }

// Error begins with the message of the reference implementation.
func (e *NotArchivedError) Error() string {
	return "no archived rollout found for thread id " + e.ID
}

// LockedError reports that another writer, in this or another process, holds the writer lock
// of a thread.
type LockedError struct{ ID string }

// Error begins with the message of the reference implementation.
func (e *LockedError) Error() string {
	return "thread " + e.ID + " already has an active writer: close it there, or end the program that has it open"
}

// CursorError reports a cursor that no list returned, or one of another SortKey.
type CursorError struct{ Cursor string }

// Error includes the cursor.
func (e *CursorError) Error() string {
	return "invalid cursor: " + e.Cursor + " (use one that a list with the same sort key returned)"
}

// NameError reports a file name, or an id, without a valid thread id.
type NameError struct{ Name string }

// Error includes the name.
func (e *NameError) Error() string {
	return fmt.Sprintf("%q has no thread id: expected rollout-<time>-<UUID>.jsonl", e.Name)
}

// KindError reports that a path leads to something other than a regular file.
type KindError struct {
	Path string
	Mode fs.FileMode
}

// Error names the kind of file.
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

// BackupError reports why a rollout's backup cannot be used.
type BackupError struct {
	// Path is the path of the backup.
	Path string
	// Reason continues a sentence that begins with the path: "is missing", "is damaged", …
	Reason string
	// Whole is set if the rollout is complete and does not need the backup.
	Whole bool
	// Err is the error of the system, or nil.
	Err error
}

// Error ends with the consequence and the next action.
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
		return "the rollout is complete, but cannot be rewritten until the backup can be read: " + advice(e.Err)
	case failed:
		return "excluded items cannot be shown or restored until the backup can be read: " + advice(e.Err)
	case e.Whole && e.Reason == backupMissing:
		return "the rollout is complete and does not need it"
	case e.Whole:
		return "the rollout is complete, but cannot be rewritten until that file is moved away"
	case e.Reason == backupAhead:
		return "the rollout is not rewritten: put the matching rollout back, or remove these lines"
	}
	return "excluded items cannot be shown or restored: put the right backup back"
}

// IsShortage reports whether err is caused by a limit of the disk or the process. The file
// itself is intact.
func IsShortage(err error) bool {
	return isAny(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EMFILE, syscall.ENFILE)
}

// IsTransient reports whether a later attempt to read the file may succeed.
func IsTransient(err error) bool { return IsShortage(err) || errors.Is(err, syscall.EIO) }

// isEnvironment reports whether the cause of err may be outside of the file.
func isEnvironment(err error) bool {
	return IsShortage(err) || isAny(err, syscall.EIO, fs.ErrPermission)
}

func isAny(err error, any ...error) bool {
	return slices.ContainsFunc(any, func(one error) bool { return errors.Is(err, one) })
}

// Unwrap returns the error of the system.
func (e *BackupError) Unwrap() error { return e.Err }

// Reasons of a BackupError.
const (
	backupMissing    = "is missing"
	backupUnreadable = "cannot be read"
	backupForeign    = "is not the backup of this thread"
	backupOther      = "is not an earlier state of this rollout"
	backupDamaged    = "is damaged"
	backupUnnamed    = "cannot be checked, because the rollout's context_backup line is damaged"
	backupAhead      = "has lines at its end that the rollout does not refer to"
)

// DiskError reports a failed operation on a file.
type DiskError struct {
	// Op is a verb: append to, open, read, …
	Op   string
	Path string
	Err  error
}

// Error ends with the next action.
func (e *DiskError) Error() string {
	return fmt.Sprintf("cannot %s %s: %v: %s", e.Op, e.Path, e.Err, advice(e.Err))
}

// Unwrap returns the error of the system.
func (e *DiskError) Unwrap() error { return e.Err }

// diskError wraps err. It returns nil for nil, and leaves errors unchanged that have the path
// and the advice already.
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
	errMoved    = errors.New("it is a symbolic link, or another file has its name now")
	errChanged  = errors.New("another program has written to it meanwhile")
	errOutside  = errors.New("it is not below sessions or archived_sessions")
	errUndated  = errors.New("its name does not begin with rollout-YYYY-MM-DDThh-mm-ss")
	errEmpty    = errors.New("it is empty")
	errUnlike   = errors.New("the new content would not load as the old one does")
	errForeign  = errors.New("its session_meta belongs to another thread")
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
	{ErrHeld, "another program holds it; end that program and try again"},
	{errTooLarge, "the file is unchanged; it can still be resumed and read"},
	{errClosed, "open it again"},
	{errPayload, "nothing was written; this is a bug in the caller"},
	{errMoved, "the file is unchanged; open it by its own path"},
	{errChanged, "the file is unchanged; end that program"},
	{ErrChanged, "resume the thread"},
	{errEmpty, "remove it, or put a copy back"},
	{errUnlike, "the file is unchanged; this is a bug in this program"},
	{errForeign, "the file is unchanged; rename it after its thread"},
	{errOutside, "move it there first"},
	{errUndated, "rename it in that form"},
	{errNoType, "nothing was written; this is a bug in the caller"},
}

func advice(err error) string {
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return r.text
		}
	}
	return "try again"
}

// isNotExist reports whether err means that there is no such file, or that a parent is not a
// folder.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
