package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	source := flag.String("protocol", "protocol", "directory of package protocol")
	out := flag.String("out", "schema", "directory that gets json/, ts/ and messages.txt")
	methods := flag.String("methods", "docs/methods.md", "file that gets the tables of methods")
	flag.Parse()
	if err := run(*source, *out, *methods); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes the schema files to out and the tables to the file methods. It writes nothing if a
// file that it reads is missing.
func run(source, out, methods string) error {
	files, err := generate(source)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(methods)
	if err != nil {
		return err
	}
	text, err = withTables(text)
	if err != nil {
		return fmt.Errorf("%s: %w", methods, err)
	}
	return errors.Join(writeFiles(out, files), os.WriteFile(methods, text, 0o644))
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
	files["messages.txt"] = []byte(strings.Join(slices.Sorted(slices.Values(messages.roots)), "\n") + "\n")
	return files, nil
}
