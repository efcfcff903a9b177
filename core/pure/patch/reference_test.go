package patch_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/patch"
)

// disk holds files in memory.
type disk map[string]string

// Read returns a file's content.
func (d disk) Read(name string) (content string, exists bool, err error) {
	content, exists = d[name]
	return content, exists, nil
}

// List returns the names in a folder.
func (d disk) List(folder string) (names []string) {
	for name := range d {
		if path.Dir(name) == path.Join(folder, ".") {
			names = append(names, path.Base(name))
		}
	}
	return names
}

// with returns the files after a result. It fails if the result has another state before.
func (d disk) with(t require.TestingT, r *patch.Result) disk {
	after := maps.Clone(d)
	for _, f := range r.Files {
		content, exists := d[f.Path]
		require.Equal(t, exists, f.Before != nil, f.Path)
		if exists {
			require.Equal(t, content, *f.Before)
		}
		if f.After == nil {
			delete(after, f.Path)
		} else {
			after[f.Path] = *f.After
		}
	}
	return after
}

func apply(text string, files disk) (*patch.Result, error) {
	p, err := patch.Parse("/repo", text, true)
	if err != nil {
		return nil, err
	}
	return p.Apply(files)
}

// referenceCase is a patch and the result of the reference implementation, version 0.169.0: the files after it, or
// nil if it rejected the patch. Accepted has the files after a patch that only this package accepts.
type referenceCase struct {
	Name            string
	Files           disk
	Patch           string
	After, Accepted disk
}

// TestPatchesDoWhatTheyDoInTheReferenceImplementation compares the line endings only if those of the files before are
// equal and complete: the package keeps others, and the reference implementation does not.
func TestPatchesDoWhatTheyDoInTheReferenceImplementation(t *testing.T) {
	f, err := os.Open("testdata/reference.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines, accepted := bufio.NewScanner(f), 0
	for lines.Scan() {
		var c referenceCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		t.Run(c.Name, func(t *testing.T) {
			r, err := apply(c.Patch, c.Files)
			if c.After == nil && c.Accepted == nil {
				require.Error(t, err, c.Patch)
				return
			}
			require.NoError(t, err, c.Patch)
			accepted++
			want, got := c.After, c.Files.with(t, r)
			if c.Accepted != nil {
				want = c.Accepted
			}
			if c.Files.isMixed() {
				want, got = want.withoutEndings(), got.withoutEndings()
			}
			require.Equal(t, want, got, c.Patch)
		})
	}
	require.NoError(t, lines.Err())
	require.Greater(t, accepted, 150)
}

// isMixed reports whether a file has several line endings, or none at its end.
func (d disk) isMixed() bool {
	for _, content := range d {
		ends := strings.Count(content, "\r\n")
		if ends > 0 && ends < strings.Count(content, "\n") || content != "" && !strings.HasSuffix(content, "\n") {
			return true
		}
	}
	return false
}

func (d disk) withoutEndings() disk {
	plain := disk{}
	for name, content := range d {
		plain[name] = strings.TrimSuffix(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
	}
	return plain
}
