//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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
			links, err := gitlinks(index, []int{c.hash})
			require.NoError(t, err)
			require.Equal(t, []string{"a/deep/sub", "sub"}, links)

			text, err := os.ReadFile(index)
			require.NoError(t, err)
			for size := range text {
				require.NoError(t, os.WriteFile(index, text[:size], 0o644))
				links, _ := gitlinks(index, []int{c.hash})
				require.LessOrEqual(t, len(links), 2)
			}
		})
	}
}

// TestHarmfulSettingsAreDisabled keeps the lines of a configuration that cannot make git run a program.
func TestHarmfulSettingsAreDisabled(t *testing.T) {
	const plain = "[core]\n\tbare = false\n; a comment\n[remote \"o\"]\n\turl = https://example.com\n\tprune\n"
	clean, harmful := disableSettings(plain)
	require.Equal(t, plain, clean)
	require.Empty(t, harmful)
	for _, line := range []string{
		"[core]fsmonitor = x", "[include]\n\tpath = x", "[core]\n\tbare = \\\n\tfsmonitor = x", "[core]\n\tFsMonitor = x",
		"[alias]\n\tstatus = !x", "[remote \"o\"]\n\turl = ext::x", "[filter \"x\"]\n\tclean = x", "[core.x]\n\tpager = x",
		"[unknown]\n\tname = x", "\ufeff[core]\n\tfsmonitor = x",
	} {
		_, harmful := disableSettings(line)
		require.NotEmpty(t, harmful, line)
		again, _ := disableSettings(line)
		_, left := disableSettings(again)
		require.Empty(t, left, line)
	}
}

// TestDamagedIndexesEnd reads an index that extends itself, and one that is long and empty.
func TestDamagedIndexesEnd(t *testing.T) {
	dir := t.TempDir()
	head := "DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x14" + strings.Repeat("\xab", 40)
	shared := filepath.Join(dir, "sharedindex."+strings.Repeat("ab", 20))
	for _, name := range []string{filepath.Join(dir, "index"), shared} {
		require.NoError(t, os.WriteFile(name, []byte(head), 0o644))
	}
	_, err := gitlinks(filepath.Join(dir, "index"), []int{sha1Size})
	require.ErrorContains(t, err, "extends another index")

	long := filepath.Join(dir, "long")
	require.NoError(t, os.WriteFile(long, []byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), 0o644))
	require.NoError(t, os.Truncate(long, 1<<40))
	_, err = gitlinks(long, []int{sha1Size})
	require.ErrorIs(t, err, errIndex)
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	_, err = gitlinks(filepath.Join(dir, "fifo"), []int{sha1Size})
	require.ErrorIs(t, err, errIndex)
}

// TestManyRepositoriesAreReported states that not all are examined, once.
func TestManyRepositoriesAreReported(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := Rules{Writable: []string{root}, Kept: []string{root}}
	before := r.Repositories()
	for i := range maxRepositories + 1 {
		require.NoError(t, os.MkdirAll(filepath.Join(root, fmt.Sprint(i), ".git"), 0o755))
	}
	folders, err := before.Disable(r)
	require.Empty(t, folders)
	require.ErrorContains(t, err, "there are more than 500")
	_, err = r.Repositories().Disable(r)
	require.NoError(t, err, "this command did not make them")
}

// TestReplacedFoldersAreNotChanged disables nothing behind a link that has replaced a folder.
func TestReplacedFoldersAreNotChanged(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(outside, ".git"), 0o755))
	config := filepath.Join(outside, ".git", "config")
	require.NoError(t, os.WriteFile(config, []byte("[core]\n\tfsmonitor = x\n"), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "near")))
	require.Error(t, disable(root, filepath.Join(root, "near")))
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	require.Equal(t, "[core]\n\tfsmonitor = x\n", string(text))
}
