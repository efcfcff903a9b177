package rollout

import "appserver/platform/disk"

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
	failed := disk.IsEnvironment(e.Err)
	switch {
	case e.Whole && failed:
		return "the rollout is complete, but cannot be rewritten until the backup can be read: " + disk.Advice(e.Err)
	case failed:
		return "excluded items cannot be shown or restored until the backup can be read: " + disk.Advice(e.Err)
	case e.Whole && e.Reason == backupMissing:
		return "the rollout is complete and does not need it"
	case e.Whole:
		return "the rollout is complete, but cannot be rewritten until that file is moved away"
	case e.Reason == backupAhead:
		return "the rollout is not rewritten: put the matching rollout back, or remove these lines"
	}
	return "excluded items cannot be shown or restored: put the right backup back"
}

// Unwrap returns the error of the system.
func (e *BackupError) Unwrap() error { return e.Err }

// Advised implements disk.Advised.
func (e *BackupError) Advised() {}

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

// ErrChanged reports that another program changed a log's file while the log was suspended.
// The log cannot be used any more; the thread must be opened again.
var ErrChanged = disk.Cause{
	Text: "another program changed the file while it was closed to save file descriptors",
	Next: "resume the thread",
}

var (
	errClosed = disk.Cause{Text: "the log is closed", Next: "open it again"}
	errMoved  = disk.Cause{
		Text: "it is a symbolic link, or another file has its name now",
		Next: "the file is unchanged; open it by its own path",
	}
	errChanged = disk.Cause{
		Text: "another program has written to it meanwhile",
		Next: "the file is unchanged; end that program",
	}
	errUnlike = disk.Cause{
		Text: "the new content would not load as the old one does",
		Next: "the file is unchanged; this is a bug in this program",
	}
	errForeign = disk.Cause{
		Text: "its session_meta belongs to another thread",
		Next: "the file is unchanged; rename it after its thread",
	}
)
