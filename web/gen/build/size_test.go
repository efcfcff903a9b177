package build_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxFirst and maxAll are the numbers of compressed bytes of the files that the page needs first, and of
// all files.
const (
	maxFirst = 90 << 10
	maxAll   = 208 << 10
)

// TestPageIsSmall bounds what a browser loads. Parts that are shown later are files of their own.
func TestPageIsSmall(t *testing.T) {
	dist := os.DirFS(filepath.Join(root, "dist"))
	sizes, texts := map[string]int{}, map[string][]byte{}
	all := 0
	require.NoError(t, fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".txt.gz") {
			return err
		}
		packed, err := d.Info()
		require.NoError(t, err)
		base := strings.TrimSuffix(path.Base(name), ".gz")
		sizes[base], texts[base] = int(packed.Size()), unpack(t, dist, name)
		all += sizes[base]
		return nil
	}))
	first := needed("index.html", texts, map[string]bool{})
	sum := 0
	for name := range first {
		sum += sizes[name]
	}
	t.Logf("first load %d bytes in %d files, all %d bytes in %d files", sum, len(first), all, len(sizes))
	require.Greater(t, len(first), 3)
	require.Less(t, len(first), len(sizes))
	require.LessOrEqual(t, sum, maxFirst)
	require.LessOrEqual(t, all, maxAll)
}

// imported finds the files that a file needs at once: of a page, and static imports of a script.
var imported = regexp.MustCompile(`(?:(?:href|src)="/assets/|(?:from|import)"\./)([^"]+)"`)

func needed(name string, texts map[string][]byte, found map[string]bool) map[string]bool {
	found[name] = true
	for _, m := range imported.FindAllSubmatch(texts[name], -1) {
		if next := string(m[1]); !found[next] {
			needed(next, texts, found)
		}
	}
	return found
}
