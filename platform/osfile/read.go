package osfile

import (
	"errors"
	"io"
	"os"
)

// ReadFile calls [os.ReadFile]. Meanwhile, others may replace and remove the file.
func ReadFile(path string) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

// State is the metadata of a file. Each change of the file changes at least one member. Modified and Changed are times,
// in nanoseconds since 1970. Programs can set Modified, but not Changed.
type State struct{ Device, Number, Mode, Size, Modified, Changed int64 }
