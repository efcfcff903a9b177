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
	"appserver/test/sample"
)

// TestVersionJSON describes the build for programs.
func TestVersionJSON(t *testing.T) {
	t.Parallel()
	status, out, errs := apptest.Execute(t, t.TempDir(), "version", "--json")
	require.Zero(t, status)
	require.Empty(t, errs)
	var info map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &info))
	require.Len(t, info, 8)
	for _, key := range []string{"commit", "time", "dirty"} {
		require.Contains(t, info, key)
		delete(info, key) // it depends on git and GOFLAGS
	}
	require.Equal(t, map[string]any{"version": "0.1.0", "protocol": protocol.Level, "go": runtime.Version(),
		"os": runtime.GOOS, "arch": runtime.GOARCH}, info)

	for _, args := range [][]string{{"version", "--jason"}, {"version", "now"}} {
		status, out, errs = apptest.Execute(t, t.TempDir(), args...)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Contains(t, errs, "appserver version --help")
	}
}

// TestBuildsAreReproducible compares builds in different folders, with the flags of make build, so
// that a binary can be checked against the source.
func TestBuildsAreReproducible(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "a build in another folder")
	for _, part := range []string{"cmd", "core", "platform", "protocol", "rollout", "schema", "server", "web"} {
		require.NoError(t, os.CopyFS(filepath.Join(elsewhere, part), os.DirFS(apptest.Root(part))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(apptest.Root(file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, file), text, 0o600))
	}
	require.Equal(t, hashOfBuild(t, apptest.Root()), hashOfBuild(t, elsewhere))
}

// hashOfBuild builds in a folder without git's data.
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
