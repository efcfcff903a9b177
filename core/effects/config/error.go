package config

import (
	"errors"
	"io/fs"
	"strings"
)

// Error reports a setting that cannot be used.
type Error struct {
	// Position is the file with its line, FILE:LINE, or the override as it was written.
	Position string
	// Key is the dotted key, or empty if the error concerns no key.
	Key string
	// Problem states the cause and the expected value.
	Problem string
}

// Error returns position, key and problem: "FILE:3: model: expected a string, got a list".
func (e *Error) Error() string {
	var parts []string
	for _, s := range []string{e.Position, e.Key, e.Problem} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// fileError wraps an error of a file operation, without the path, which Position has.
func fileError(file string, err error) *Error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &Error{Position: file, Problem: err.Error()}
}
