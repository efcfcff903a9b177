package worktree

import (
	"fmt"
	"strings"
)

func (e *TooLargeError) Error() string {
	if e.Files > 0 {
		return fmt.Sprintf("%s has more than %d files, and is not captured", e.Root, e.MaxFiles)
	}
	return fmt.Sprintf("a capture of %s would store %d bytes, more than %d", e.Root, e.Bytes, e.MaxBytes)
}

func (e *ConflictError) Error() string {
	return "these files were changed since, and are not restored: " + strings.Join(e.Paths, ", ")
}
