package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	source := flag.String("protocol", "protocol", "directory of package protocol")
	out := flag.String("out", "schema", "directory that gets json/ and ts/")
	readme := flag.String("readme", "README.md", "file that gets the tables of methods")
	flag.Parse()
	if err := run(*source, *out, *readme); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes nothing where something that it reads is missing.
func run(source, out, readme string) error {
	files, err := generate(source)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	text, err = withTables(text)
	if err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	return errors.Join(writeFiles(out, files), os.WriteFile(readme, text, 0o644))
}

// writeFiles replaces the folders of schema files in out.
func writeFiles(out string, files map[string][]byte) error {
	if err := errors.Join(os.RemoveAll(filepath.Join(out, "json")), os.RemoveAll(filepath.Join(out, "ts"))); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate makes the files, by slash-separated path, from the types linked into
// this program and the comments of the sources in dir.
func generate(dir string) (map[string][]byte, error) {
	src, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	messages, err := collect(src)
	if err != nil {
		return nil, err
	}
	files, err := jsonFiles(messages)
	if err != nil {
		return nil, err
	}
	files["ts/index.ts"] = typeScript(messages)
	return files, nil
}
