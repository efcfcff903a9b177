package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
)

func TestShell(t *testing.T) {
	dir, err := os.MkdirTemp("", "shell") // Wine cannot remove the folders of testing
	require.NoError(t, err)
	env := map[string]string{"SystemRoot": dir, "PATH": "relative;" + filepath.Join(dir, "bin")}
	shell := func() string { return workspace.Shell(func(name string) string { return env[name] }) }
	require.Equal(t, filepath.Join(dir, `System32\cmd.exe`), shell())
	for _, name := range []string{`System32\WindowsPowerShell\v1.0\powershell.exe`, `bin\pwsh.exe`} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.Equal(t, path, shell())
	}
}
