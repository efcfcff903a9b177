package patch

import "fmt"

// ErrorKind is a stable word for the reason of an error.
type ErrorKind string

// The kinds of errors.
const (
	// Malformed means that the patch cannot be parsed.
	Malformed ErrorKind = "malformed"
	// Mismatch means that the file does not contain the lines of a hunk.
	Mismatch ErrorKind = "mismatch"
	// Missing means that a file to change does not exist, or is not text.
	Missing ErrorKind = "missing"
	// Forbidden means that patches may not write the named file.
	Forbidden ErrorKind = "forbidden"
)

// Error is the reason why a patch is rejected. No file was changed.
type Error struct {
	Kind ErrorKind
	// Path is the file's name, or empty if it is not known yet.
	Path string
	// Hunk is the number of the hunk within its file, from 1; 0 if the error concerns the file.
	Hunk int
	// Line is the line of the patch, from 1; 0 if the error concerns the patch.
	Line    int
	Message string
}

// Error returns a message with the file, the hunk and the line of the patch, as far as they are known.
func (e *Error) Error() string {
	where := ""
	switch {
	case e.Hunk > 0:
		where = fmt.Sprintf("%s, hunk %d (line %d of the patch): ", e.Path, e.Hunk, e.Line)
	case e.Path != "":
		where = e.Path + ": "
	case e.Line > 0:
		where = fmt.Sprintf("line %d of the patch: ", e.Line)
	}
	return where + e.Message
}
