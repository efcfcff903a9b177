package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/schema"
)

const protocolDir = "../../protocol"

func TestFilesAreCurrent(t *testing.T) {
	all, err := generate(protocolDir)
	require.NoError(t, err)
	got := map[string][]byte{}
	written := os.DirFS("..")
	for _, pattern := range []string{"json/*", "ts/*", "messages.txt"} {
		paths, err := fs.Glob(written, pattern)
		require.NoError(t, err)
		for _, path := range paths {
			got[path], err = fs.ReadFile(written, path)
			require.NoError(t, err)
		}
	}
	requireCurrent(t, stored(all), got)
}

func TestTheProgramMakesEveryFile(t *testing.T) {
	all, err := generate(protocolDir)
	require.NoError(t, err)
	made, err := schema.JSONFiles()
	require.NoError(t, err)
	got := map[string][]byte{}
	for name, text := range made {
		got["json/"+name] = []byte(text)
	}
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return !strings.HasPrefix(name, "json/") })
	requireCurrent(t, all, got)
}

// requireCurrent requires equal files. It reports the names of those that differ, and the command that mends them.
func requireCurrent(t *testing.T, want, got map[string][]byte) {
	t.Helper()
	var stale []string
	for name := range want {
		if !bytes.Equal(want[name], got[name]) {
			stale = append(stale, name)
		}
	}
	for name := range got {
		if want[name] == nil {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	if len(stale) > 0 {
		t.Errorf("run `make generate`, and commit its files. These are out of date:\n%s", strings.Join(stale, "\n"))
	}
}

func TestOutputIsDeterministic(t *testing.T) {
	first, err := generate(protocolDir)
	require.NoError(t, err)
	for range 3 {
		again, err := generate(protocolDir)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

func TestRunReplacesOldFiles(t *testing.T) {
	out := t.TempDir()
	stale := filepath.Join(out, "json", "GoneParams.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(stale), 0o755))
	require.NoError(t, os.WriteFile(stale, []byte("{}"), 0o644))

	require.NoError(t, run(protocolDir, out, emptyDocument(t)))

	require.NoFileExists(t, stale)
	require.FileExists(t, filepath.Join(out, "json", "appserver.schemas.json"))
	require.FileExists(t, filepath.Join(out, "ts", "index.ts"))
}

func TestRunKeepsFilesWhenSourcesAreMissing(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, run(protocolDir, out, emptyDocument(t)))
	err := run(t.TempDir(), out, emptyDocument(t))
	require.ErrorIs(t, err, errNoSources)
	require.FileExists(t, filepath.Join(out, "ts", "index.ts"))
}

func TestBrokenSourceIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.go"), []byte("package p\ntype {"), 0o644))
	_, err := generate(dir)
	require.ErrorContains(t, err, "broken.go")
}
