package worktree

import (
	"fmt"
	"strings"
)

// TooLargeError means that a worktree exceeds a limit. Nothing was stored. The figures are the ones at
// which the count stopped. A figure that is not the reason is 0.
type TooLargeError struct {
	Root     string
	Files    int
	MaxFiles int
	Bytes    int64
	MaxBytes int64
}

func (e *TooLargeError) Error() string {
	if e.Files > 0 {
		return fmt.Sprintf("%s has more than %d files, and is not captured", e.Root, e.MaxFiles)
	}
	return fmt.Sprintf("a capture of %s would store %d bytes, more than %d", e.Root, e.Bytes, e.MaxBytes)
}

// ConflictError lists the paths, in order, whose state is neither the one to undo nor the one to
// restore. Nothing was written.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	return "these files were changed since, and are not restored: " + strings.Join(e.Paths, ", ")
}
