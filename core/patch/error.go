package patch

import "fmt"

// ErrorKind tells why a patch was refused; each is a stable word.
type ErrorKind string

// The kinds of errors.
const (
	// Malformed patches cannot be read.
	Malformed ErrorKind = "malformed"
	// Mismatch means that a hunk is not in its file.
	Mismatch ErrorKind = "mismatch"
	// Missing means that a file to change is not there, or is no text.
	Missing ErrorKind = "missing"
	// Forbidden means that a name leads where patches may not write.
	Forbidden ErrorKind = "forbidden"
)

// Error is why a patch was refused. No file of it was changed.
type Error struct {
	Kind ErrorKind
	// Path is the file's name, "" where the patch was not read so far.
	Path string
	// Hunk counts the file's hunks from 1; 0 means the file.
	Hunk int
	// Line is the line of the patch, from 1; 0 means the patch.
	Line    int
	Message string
}

// Error names the file, the hunk and the line of the patch, as far as they are known.
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
