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
