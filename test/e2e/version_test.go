package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestBinaryTellsWhatItIsMadeOf to programs.
func TestBinaryTellsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	status, out, errs := apptest.Execute(t, t.TempDir(), "version", "--json")
	require.Zero(t, status)
	require.Empty(t, errs)
	var told map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &told))
	require.Len(t, told, 8)
	for _, key := range []string{"commit", "time", "dirty"} {
		require.Contains(t, told, key)
		delete(told, key) // whether the builder is told is up to git and GOFLAGS
	}
	require.Equal(t, map[string]any{"version": "0.1.0", "protocol": protocol.Level, "go": runtime.Version(),
		"os": runtime.GOOS, "arch": runtime.GOARCH}, told)

	for _, args := range [][]string{{"version", "--jason"}, {"version", "now"}} {
		status, out, errs = apptest.Execute(t, t.TempDir(), args...)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Contains(t, errs, "appserver --help")
	}
}

// TestBuildsOfAnyFolderAreTheSame byte by byte, with the flags of make build, so that whoever
// has the source can check what they were given.
func TestBuildsOfAnyFolderAreTheSame(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "a folder of another name")
	for _, part := range []string{"cmd", "core", "protocol", "rollout", "schema", "server"} {
		require.NoError(t, os.CopyFS(filepath.Join(elsewhere, part), os.DirFS(apptest.Root(part))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(apptest.Root(file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, file), text, 0o600))
	}
	require.Equal(t, hashOfBuild(t, apptest.Root()), hashOfBuild(t, elsewhere))
}

// hashOfBuild builds in a folder, without what git knows of it.
func hashOfBuild(t *testing.T, dir string) [sha256.Size]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "appserver")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/appserver")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return sha256.Sum256(text)
}
