//go:build linux

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGitlinksAreFoundInEachIndex reads what git wrote, and what is left of it when it is cut at any place.
func TestGitlinksAreFoundInEachIndex(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		hash   int
		update []string
	}{
		"version 2":   {"sha1", 20, nil},
		"version 3":   {"sha1", 20, []string{"--skip-worktree", "b"}},
		"version 4":   {"sha1", 20, []string{"--index-version", "4"}},
		"split index": {"sha1", 20, []string{"--split-index"}},
		"SHA-256":     {"sha256", 32, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			git := func(in string, args ...string) {
				cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
				cmd.Dir = filepath.Join(dir, in)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
			}
			git("", "init", "-q", "--object-format="+c.format, ".")
			for _, sub := range []string{"a/deep/sub", "sub"} {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, sub), 0o755))
				git(sub, "init", "-q", "--object-format="+c.format, ".")
				git(sub, "commit", "-q", "--allow-empty", "-m", "x")
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o644))
			git("", "add", ".")
			if c.update != nil {
				git("", append([]string{"update-index"}, c.update...)...)
			}
			index := filepath.Join(dir, ".git", "index")
			links, err := gitlinks(index, c.hash)
			require.NoError(t, err)
			require.Equal(t, []string{"a/deep/sub", "sub"}, links)

			text, err := os.ReadFile(index)
			require.NoError(t, err)
			for size := range text {
				require.NoError(t, os.WriteFile(index, text[:size], 0o644))
				links, _ := gitlinks(index, c.hash)
				require.LessOrEqual(t, len(links), 2)
			}
		})
	}
}

// TestHarmfulSettingsAreDisarmed keeps the lines of a configuration that cannot make git run a program.
func TestHarmfulSettingsAreDisarmed(t *testing.T) {
	const plain = "[core]\n\tbare = false\n; a comment\n[remote \"o\"]\n\turl = https://example.com\n\tprune\n"
	clean, harmful := disarmConfig(plain)
	require.Equal(t, plain, clean)
	require.Empty(t, harmful)
	for _, line := range []string{
		"[core]fsmonitor = x", "[include]\n\tpath = x", "[core]\n\tbare = \\\n\tfsmonitor = x", "[core]\n\tFsMonitor = x",
		"[alias]\n\tstatus = !x", "[remote \"o\"]\n\turl = ext::x", "[filter \"x\"]\n\tclean = x", "[core.x]\n\tpager = x",
		"[unknown]\n\tname = x", "\ufeff[core]\n\tfsmonitor = x",
	} {
		_, harmful := disarmConfig(line)
		require.NotEmpty(t, harmful, line)
		again, _ := disarmConfig(line)
		_, left := disarmConfig(again)
		require.Empty(t, left, line)
	}
}
