// Package store defines the interface between the engine and a store of threads.
//
// A thread has an id and a log of lines. One writer at a time has the log open. Package files stores logs
// as rollouts on the disk of one machine.
package store

import (
	"context"
	"errors"
	"time"

	"appserver/protocol"
	"appserver/rollout"
)

// Ref names a stored thread. Path selects one of its files, for a client that names a file, or for a
// thread that is open. It is empty otherwise, and always if the store has no files.
type Ref struct{ ID, Path string }

// Place is the present place of a thread.
type Place struct {
	Ref
	Archived bool
}

// Op is an operation that Threads.Check examines.
type Op int

// The operations. OpWrite fails with a *rollout.LockedError if the thread has a writer. OpRestore makes
// excluded items readable again from the backup; it fails with a *rollout.BackupError.
const (
	OpArchive Op = iota
	OpDelete
	OpWrite
	OpRestore
)

// Threads are the stored threads. Any number of goroutines may use it.
//
// A thread that does not exist is a *rollout.NotFoundError. A thread with another writer is a
// *rollout.LockedError.
type Threads interface {
	// Begin returns the journal of a new thread. The seed is the lines of another thread with which it
	// begins, or nil. Nothing is stored before the first append, which stores the seed as well. From then
	// on, the LineReader of the seed reads the lines of the new thread, if the journal has it.
	Begin(id string, at time.Time, seed *rollout.Seed) (Journal, error)
	// Open opens a thread for writing, and passes its lines to the loader. An archived thread is an
	// *ArchivedError.
	Open(at Ref, to rollout.Loader) (Journal, *rollout.Contents, error)
	// Load passes the lines to the loader without opening the thread. The caller closes the reader.
	Load(at Ref, to rollout.Loader) (*rollout.Contents, *rollout.LineReader, error)
	// Where returns the place of a thread.
	Where(at Ref) (Place, error)
	// Check returns the error with which an operation would fail, or nil. It changes nothing.
	Check(at Ref, op Op) error
	// Archive archives a thread that is not open.
	Archive(at Ref) error
	// Unarchive returns the new place of an archived thread. For another thread it returns a
	// *rollout.NotArchivedError.
	Unarchive(at Ref) (Place, error)
	// Delete deletes a thread that is not open, archived or not. A thread on which another one depends
	// is a *rollout.InUseError.
	Delete(id string) error
	// Rename sets the name of a thread. Name returns the name and its time, or "". The time is zero if only
	// this program gives names: the log has them then.
	Rename(id, name string, at time.Time) error
	Name(id string) (name string, at time.Time, err error)
	// List returns a page of threads, with their names.
	List(q rollout.Query) (rollout.Page, error)
	// Listed starts background work that would delay a list. Call it after the answer to a list.
	Listed()
	// Search returns the threads that contain a text, with their names. It returns soon after the end
	// of ctx. A store that cannot search returns rollout.ErrNoIndex.
	Search(ctx context.Context, q rollout.Query) (rollout.Hits, error)
	// Retain calls do for each thread that exceeds a limit, the oldest first. Retire archives or
	// deletes such a thread, unless it was written to since.
	Retain(ctx context.Context, r rollout.Retention, now time.Time,
		do func(rollout.Candidate) error) rollout.RetentionResult
	Retire(r rollout.Retention, t rollout.Candidate) error
	// HasFiles reports whether the threads are rollouts in files. Otherwise CompressOld and CompressThread return
	// ErrNoFiles.
	HasFiles() bool
	// CompressOld calls do for each thread with files that were not written to for rollout.CompressAge.
	// CompressThread compresses such files. If that was done lately, the error is a
	// *rollout.CompressedLatelyError.
	CompressOld(ctx context.Context,
		do func(rollout.Compressible) (rollout.CompressedThread, error)) (rollout.Compression, error)
	CompressThread(t rollout.Compressible) (rollout.CompressedThread, error)
	// Tidy completes the work of writers that were killed.
	Tidy() error
	// Diagnose returns the state of the index. It does not wait.
	Diagnose() protocol.IndexDiagnostics
}

// Journal is the log of a thread, open for writing. It belongs to one goroutine.
type Journal interface {
	// Append appends all of the lines or none. With sync it returns after they are durable. After a
	// *LostError, all other methods but Close and Discard fail.
	Append(lines []protocol.RolloutLine, sync bool) error
	Close() error
	// Discard closes the journal, and removes the log of a thread that began with it.
	Discard() error
	// LineReader returns a reader of the appended lines, or nil if they cannot be read again.
	LineReader() *rollout.LineReader
	// CloseRewritten closes the journal. Other programs then read the lines of the projection only, if
	// they can read the log at all. Nil selects all lines.
	CloseRewritten(p rollout.Projection) error
	// SetIdle sets whether the store may close the descriptors. Resume opens them again.
	SetIdle(idle bool)
	Resume() error
	// Lost returns a channel that is closed when another program may write the thread. It is nil if that
	// cannot happen.
	Lost() <-chan struct{}
	// Ref returns the name of the log.
	Ref() Ref
	// IsAt reports whether a path leads to the log.
	IsAt(path string) bool
}

// ErrNoFiles reports that threads are not rollouts in files.
var ErrNoFiles = errors.New("the threads are in a database, not in files")

// ArchivedError reports that a thread is archived.
type ArchivedError struct{ ID string }

// Error includes the next action.
func (e *ArchivedError) Error() string {
	return "session " + e.ID + " is archived: unarchive it with thread/unarchive first"
}

// OwnedError reports that another node of the fleet writes a thread. It is a *rollout.LockedError, too.
type OwnedError struct {
	ID string
	// Node is the owner. Requests can be forwarded to it at Address, unless that is "".
	Node, Address string
}

// Error includes the node.
func (e *OwnedError) Error() string { return "thread " + e.ID + " is open on node " + e.Node }

// Unwrap returns the error of a store without nodes.
func (e *OwnedError) Unwrap() error { return &rollout.LockedError{ID: e.ID} }

// LostError reports that a journal cannot be used any more: another node writes the thread, or it is not
// known whether an append succeeded. The thread must be opened again.
type LostError struct {
	ID  string
	Err error
}

// Error includes the cause.
func (e *LostError) Error() string { return "thread " + e.ID + " must be resumed: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// UnavailableError reports that the store cannot be used now. A later attempt may succeed.
type UnavailableError struct{ Err error }

// Error includes the cause.
func (e *UnavailableError) Error() string {
	return "the database of the threads cannot be used: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }
