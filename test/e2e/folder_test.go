package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestFolderIsCompletedAndInspected completes what a user types, and tells whether the folder is trusted.
func TestFolderIsCompletedAndInspected(t *testing.T) {
	t.Parallel()
	user, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	project := filepath.Join(user, "Projects", "parser")
	for _, dir := range []string{"Projects/parser/sub", "Projects/parser/.codex", "Projects/party", "Projects/.hidden", "Elsewhere"} {
		require.NoError(t, os.MkdirAll(filepath.Join(user, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(project, ".codex", "config.toml"), []byte("model = \"m\"\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(user, "Projects", "parts.txt"), nil, 0o644))
	out, err := exec.Command("git", "-C", project, "init", "-q").CombinedOutput()
	require.NoError(t, err, string(out))
	c := apptest.StartOffline(t, user) // HOME is the home of the server

	inspect := func(path string) gjson.Result {
		return c.CallJSON("folder/inspect", apptest.Object{"path": path})
	}
	for typed, want := range map[string][]string{
		"~/Projects/par":  {project, filepath.Join(user, "Projects", "party")},
		"~/Projects/.":    {filepath.Join(user, "Projects", ".hidden")},
		"~/Projects/Par":  nil,
		"~":               {user},
		"~/nowhere/there": nil,
	} {
		require.ElementsMatch(t, want, texts(inspect(typed).Get("completions")), typed)
	}
	require.Subset(t, texts(inspect("~/").Get("completions")),
		[]string{filepath.Join(user, "Elsewhere"), filepath.Join(user, "Projects")})
	require.Equal(t, user, inspect("~").Get("path").Str)

	got := inspect("~/Projects/parser/sub")
	require.True(t, got.Get("isDirectory").Bool())
	require.Equal(t, project, got.Get("repository").Str)
	require.Equal(t, project, got.Get("trustFolder").Str)
	require.Equal(t, "null", got.Get("trust").Raw)
	require.Equal(t, []string{filepath.Join(project, ".codex")}, texts(got.Get("projectFolders")))

	c.Call("config/value/write", apptest.Object{"keyPath": `projects."` + project + `".trust_level`, "value": "untrusted",
		"mergeStrategy": "upsert"})
	require.Equal(t, "untrusted", inspect(project).Get("trust").Str)

	file := inspect("~/Projects/parts.txt")
	require.False(t, file.Get("isDirectory").Bool())
	require.Contains(t, file.Get("problem").Str, "is not a directory")
	require.Contains(t, inspect("~/nowhere").Get("problem").Str, "does not exist")
}
