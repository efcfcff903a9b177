package schema

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

var (
	//go:embed json/appserver.schemas.json
	bundle string
	//go:embed messages.txt
	messages string // the names of the messages that have a file, one a line
	//go:embed ts/index.ts
	typeScript string
)

// WriteJSON writes the JSON Schema files to dir. It creates dir if necessary. It overwrites files of
// the same names and keeps others.
func WriteJSON(dir string) error { return write(dir, jsonFiles()) }

// WriteTS writes the TypeScript files to dir as WriteJSON does.
func WriteTS(dir string) error { return write(dir, map[string]string{"index.ts": typeScript}) }

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
