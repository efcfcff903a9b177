//go:build !windows

package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
)

func TestShell(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"zsh", "bash", "sh", "fish"} {
		require.NoError(t, os.Chmod(put(t, dir, name, "#!"), 0o700))
	}
	put(t, dir, "plain/bash", "#!")
	fallback := "/bin/bash"
	if _, err := os.Stat(fallback); err != nil {
		fallback = "/bin/sh"
	}
	for shell, want := range map[string]string{
		filepath.Join(dir, "zsh"):        filepath.Join(dir, "zsh"),
		filepath.Join(dir, "bash"):       filepath.Join(dir, "bash"),
		filepath.Join(dir, "sh"):         filepath.Join(dir, "sh"),
		filepath.Join(dir, "fish"):       fallback,
		filepath.Join(dir, "plain/bash"): fallback,
		filepath.Join(dir, "none/bash"):  fallback,
		"bash":                           fallback,
		"":                               fallback,
	} {
		got := workspace.Shell(func(name string) string {
			require.Equal(t, "SHELL", name)
			return shell
		})
		require.Equal(t, want, got, shell)
	}
}
