package osfile

import (
	"errors"
	"io"
	"os"
)

// ReadFile is [os.ReadFile]. Meanwhile, others may replace and remove the file.
func ReadFile(path string) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

// State is what every change of a file changes. The times are in nanoseconds since 1970. Changed is the one that no
// program can set.
type State struct{ Device, Number, Mode, Size, Modified, Changed int64 }
