package agentrole

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/osfile"
)

const (
	// maxFile bounds the size of a file, in bytes.
	maxFile = 64 << 10
	// maxFiles bounds the entries that are looked at in a folder and those below it, and maxDepth how deep they are.
	maxFiles, maxDepth = 500, 4
)

// filesIn returns the files in a folder and below it whose names end with a suffix, sorted. Links to folders are not
// followed. A folder of a project, with the root within, must be in the project.
func (f *finder) filesIn(dir, suffix, within string) (files []string) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil // most folders do not exist
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil && within != "" && !osfile.Contains(within, real) {
		f.warn(dir, "its agent roles are left out: %v", &osfile.OutsideError{Folder: within})
		return nil
	}
	seen := 0
	f.walk(dir, suffix, 0, &seen, &files)
	if seen > maxFiles {
		f.warn(dir, "more than %d files: the agent roles in the others are left out", maxFiles)
	}
	slices.Sort(files)
	return files
}

func (f *finder) walk(dir, suffix string, depth int, seen *int, files *[]string) {
	entries, err := readDir(dir)
	if err != nil {
		f.warn(dir, "its agent roles are left out: %v", osfile.Reason(err))
		return
	}
	for _, e := range entries {
		if *seen++; *seen > maxFiles {
			return
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && depth < maxDepth:
			f.walk(path, suffix, depth+1, seen, files)
		case !e.IsDir() && strings.HasSuffix(e.Name(), suffix):
			*files = append(*files, path)
		}
	}
}

// readDir returns the first entries of a folder, sorted by name.
func readDir(dir string) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxFiles + 1)
	if len(entries) > 0 {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// text returns the content of a file, as UTF-8.
func text(path, within string) (string, error) {
	b := osfile.Bounds{Max: maxFile + 1}
	if within != "" {
		b.Within = []string{within}
	}
	content, err := osfile.ReadRegular(path, b)
	switch {
	case err != nil:
		return "", err
	case len(content) > maxFile:
		return "", fmt.Errorf("larger than %d bytes", maxFile)
	}
	return string(bytes.ToValidUTF8(content, []byte("\ufffd"))), nil
}
