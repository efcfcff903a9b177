//go:build unix

package codeindex

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/core/effects/find"
)

// TestALookThatCannotOpenFilesDropsNothing runs with each limit of open files, up to one that
// is enough. Files that git ignores are never kept.
func TestALookThatCannotOpenFilesDropsNothing(t *testing.T) {
	root := t.TempDir()
	put := func(name string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("ignored\n"), 0o644))
	for _, name := range []string{"a", "b/c", "b/d/e", "ignored", "b/ignored"} {
		put(name)
	}
	sink := memory{}
	look := func() error {
		j := newJob(Options{Sink: sink, Finder: find.New(), Share: 1}.withDefaults(), "r", root, func() {})
		j.watch = &watch{}
		_, err := j.look(context.Background())
		return err
	}
	require.NoError(t, look())
	want := texts(sink)
	require.Len(t, want, 4)
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	failed := 0
	for n, err := uint64(3), error(unix.EMFILE); err != nil; n++ {
		for _, name := range []string{"a", "b/c"} { // they are read again
			require.NoError(t, os.Chtimes(filepath.Join(root, name), time.Unix(int64(n), 0), time.Unix(int64(n), 0)))
		}
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: before.Max}))
		err = look()
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before))
		require.Equal(t, want, texts(sink), "%d files", n)
		if err != nil {
			require.ErrorIs(t, err, unix.EMFILE)
			require.ErrorContains(t, err, root)
			failed++
		}
	}
	require.Greater(t, failed, 2)
}
