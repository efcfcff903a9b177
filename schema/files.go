package schema

import (
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The files of json and ts, compressed by gzip: a seventh of their size.
var (
	//go:embed packed/appserver.schemas.json.gz
	packedBundle string
	//go:embed packed/index.ts.gz
	packedTypeScript string
)

// messages has the names of the messages that have a file, one a line.
//
//go:embed messages.txt
var messages string

// JSONFiles returns the JSON Schema files by name: the bundle of all definitions, and a file for each message.
func JSONFiles() (map[string]string, error) {
	bundle, err := unpack(packedBundle)
	if err != nil {
		return nil, err
	}
	return jsonFiles(bundle), nil
}

// WriteJSON writes the JSON Schema files to dir. It creates dir if necessary. It overwrites files of
// the same names and keeps others.
func WriteJSON(dir string) error {
	files, err := JSONFiles()
	if err != nil {
		return err
	}
	return write(dir, files)
}

// WriteTS writes the TypeScript files to dir as WriteJSON does.
func WriteTS(dir string) error {
	typeScript, err := unpack(packedTypeScript)
	if err != nil {
		return err
	}
	return write(dir, map[string]string{"index.ts": typeScript})
}

func unpack(packed string) (string, error) {
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("read an embedded schema file: %w", err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return "", fmt.Errorf("read an embedded schema file: %w", err)
	}
	return string(text), nil
}

func write(dir string, files map[string]string) error {
	if dir == "" {
		return errors.New("write schema files: no directory given")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory for the schema files: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("write a schema file: %w", err)
		}
	}
	return nil
}
