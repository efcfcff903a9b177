package build_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/web/gen/build"
)

const root = "../.."

// TestBuiltPageIsUpToDate builds the page and compares it with the committed files.
func TestBuiltPageIsUpToDate(t *testing.T) {
	want, err := build.Files(root)
	require.NoError(t, err)
	got := map[string]bool{}
	dist := os.DirFS(filepath.Join(root, "dist"))
	require.NoError(t, fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, content := strings.TrimSuffix(name, ".gz"), unpack(t, dist, name)
		got[name] = true
		require.True(t, string(want[name]) == string(content), "web/dist/%s is not up to date: run make generate", name)
		return nil
	}))
	require.Len(t, got, len(want), "web/dist is not up to date: run make generate")
}

// TestSameSourcesGiveTheSamePage builds the page again: esbuild reads files in another order each time.
func TestSameSourcesGiveTheSamePage(t *testing.T) {
	want, err := build.Files(root)
	require.NoError(t, err)
	for range 8 {
		got, err := build.Files(root)
		require.NoError(t, err)
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "names contain hashes")
	}
}

func unpack(t *testing.T, dist fs.FS, name string) []byte {
	packed, err := fs.ReadFile(dist, name)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	content, err := io.ReadAll(z)
	require.NoError(t, err)
	return content
}

// TestVendoredFilesAreUnmodified compares the vendored files with the checksums of vendor.json.
func TestVendoredFilesAreUnmodified(t *testing.T) {
	dir := filepath.Join(root, "vendor")
	packages, err := build.Packages(dir)
	require.NoError(t, err)
	listed := map[string]bool{"vendor.json": true}
	for _, p := range packages {
		require.NoError(t, p.Verify(dir))
		for name := range p.Files {
			listed[p.Name+"/"+name] = true
		}
	}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			require.True(t, listed[name], "%s is not in vendor.json", name)
		}
		return err
	}))
}
