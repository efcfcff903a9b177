package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed json/*.json ts/*.ts
var files embed.FS

// Files are the generated files: JSON Schema in json/, TypeScript in ts/.
func Files() fs.FS { return files }

// WriteJSON writes the JSON Schema files to dir. It creates dir if necessary. It overwrites files of
// the same names and keeps others.
func WriteJSON(dir string) error { return write("json", dir) }

// WriteTS writes the TypeScript files to dir as WriteJSON does.
func WriteTS(dir string) error { return write("ts", dir) }

func write(from, dir string) error {
	if dir == "" {
		return fmt.Errorf("write %s schema files: no directory given", from)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory for the schema files: %w", err)
	}
	entries, err := files.ReadDir(from)
	if err != nil {
		return fmt.Errorf("read the schema files of this program: %w", err)
	}
	for _, e := range entries {
		content, err := files.ReadFile(from + "/" + e.Name())
		if err != nil {
			return fmt.Errorf("read the schema files of this program: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), content, 0o644); err != nil {
			return fmt.Errorf("write a schema file: %w", err)
		}
	}
	return nil
}
