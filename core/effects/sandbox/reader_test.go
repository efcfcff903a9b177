//go:build linux

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadersReadAllButTheHiddenDirectory reads files beside, in and above a hidden directory, also some that appear
// after the first program.
func TestReadersReadAllButTheHiddenDirectory(t *testing.T) {
	if (&Reader{}).newRules().ruleset < 0 {
		t.Skip("this kernel has no Landlock")
	}
	dir := t.TempDir()
	for _, name := range []string{"home/secret", "home/kept/file", "work/file", "beside"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("content"), 0o644))
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "home"), filepath.Join(dir, "work", "link")))
	r := NewReader(filepath.Join(dir, "home"), filepath.Join(dir, "home", "kept"), filepath.Join(dir, "home", "later"))
	reads := func(in, name string) bool {
		cmd := exec.Command("cat", name)
		cmd.Dir = filepath.Join(dir, in)
		require.NoError(t, r.Start(cmd))
		return cmd.Wait() == nil
	}
	require.True(t, reads("work", "file"))
	require.True(t, reads("work", "../beside"))
	require.True(t, reads("work", filepath.Join(dir, "home/kept/file")))
	require.False(t, reads("work", "link/secret"))
	require.False(t, reads("work", filepath.Join(dir, "home/secret")))
	require.False(t, reads("work", "/proc/self/environ"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "later"), []byte("content"), 0o644))
	require.True(t, reads("work", "../later"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "home", "later"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "home", "later", "file"), []byte("content"), 0o644))
	require.True(t, reads("work", "../home/later/file"))
	move := exec.Command("mv", "work/file", "home/kept/moved")
	move.Dir = dir
	require.NoError(t, r.start(move))
	require.NoError(t, move.Wait(), "git moves files between folders")
	require.True(t, reads("home", "secret"), "commands in the hidden directory read it, too")
}

// BenchmarkReader starts a program with the rules, and without.
func BenchmarkReader(b *testing.B) {
	r := NewReader(filepath.Join(b.TempDir(), "home"))
	for name, start := range map[string]func(*exec.Cmd) error{"rules": r.start, "none": (*exec.Cmd).Start} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("true")
				if start(cmd) != nil || cmd.Wait() != nil {
					b.Fatal("it does not run")
				}
			}
		})
	}
}
