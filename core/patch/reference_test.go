package patch_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/patch"
)

// disk holds files in memory.
type disk map[string]string

// Read returns a file's content.
func (d disk) Read(name string) (content string, exists bool, err error) {
	content, exists = d[name]
	return content, exists, nil
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
	p, err := patch.Parse("/repo", text)
	if err != nil {
		return nil, err
	}
	return p.Apply(files)
}

// referenceCase is a patch and the result of the reference implementation, version 0.169.0: the
// files after it, or nil if it rejected the patch.
type referenceCase struct {
	Name  string
	Files disk
	Patch string
	After disk
}

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
			if c.After == nil {
				require.Error(t, err, c.Patch)
				return
			}
			require.NoError(t, err, c.Patch)
			require.Equal(t, c.After, c.Files.with(t, r), c.Patch)
			accepted++
		})
	}
	require.NoError(t, lines.Err())
	require.Greater(t, accepted, 150)
}
