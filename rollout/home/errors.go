package home

import "fmt"

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

// Advised implements disk.Advised.
func (e *LockedError) Advised() {}

// NameError reports a file name, or an id, without a valid thread id.
type NameError struct{ Name string }

// Error includes the name.
func (e *NameError) Error() string {
	return fmt.Sprintf("%q has no thread id: expected rollout-<time>-<UUID>.jsonl", e.Name)
}
