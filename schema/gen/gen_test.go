package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const protocolDir = "../../protocol"

func TestFilesAreCurrent(t *testing.T) {
	want, err := generate(protocolDir)
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
	for name := range want {
		require.Equal(t, string(want[name]), string(got[name]), "%s is out of date: run `make generate`", name)
	}
	for name := range got {
		require.Contains(t, want, name, "%s is not generated any more: run `make generate`", name)
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
	require.FileExists(t, filepath.Join(out, "json", "ThreadStartParams.json"))
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
