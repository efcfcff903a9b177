package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const typeScriptFile = "ts/index.ts"

func main() {
	source := flag.String("protocol", "protocol", "directory of package protocol")
	out := flag.String("out", "schema", "directory that gets json/, ts/, packed/ and messages.txt")
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
	packed, err := pack(files, bundle, typeScriptFile)
	if err != nil {
		return err
	}
	return errors.Join(writeFiles(out, stored(files)), writeFiles(out, packed), os.WriteFile(methods, text, 0o644))
}

// stored returns the files of the repository: the bundle, the TypeScript and the names of messages. The program makes
// the file of each message from the bundle.
func stored(files map[string][]byte) map[string][]byte {
	kept := map[string][]byte{}
	for _, name := range []string{bundle, typeScriptFile, "messages.txt"} {
		kept[name] = files[name]
	}
	return kept
}

// pack returns the named files, compressed for the program. Tests compare the files that the program writes, not
// these: another version of Go can compress differently.
func pack(files map[string][]byte, names ...string) (map[string][]byte, error) {
	packed := map[string][]byte{}
	for _, name := range names {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		_, err = z.Write(files[name])
		if err := errors.Join(err, z.Close()); err != nil {
			return nil, err
		}
		packed["packed/"+path.Base(name)+".gz"] = out.Bytes()
	}
	return packed, nil
}

// writeFiles replaces the folders of the files in out.
func writeFiles(out string, files map[string][]byte) error {
	for name := range files {
		if folder := path.Dir(name); folder != "." {
			if err := os.RemoveAll(filepath.Join(out, folder)); err != nil {
				return err
			}
		}
	}
	for name, content := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
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
	files[typeScriptFile] = typeScript(messages)
	files["messages.txt"] = []byte(strings.Join(slices.Sorted(slices.Values(messages.roots)), "\n") + "\n")
	return files, nil
}
