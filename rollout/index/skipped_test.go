package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/test/posix"
)

// unlistable puts things into a folder that may be threads and cannot be listed.
var unlistable = map[string]func(path string) error{
	"empty": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	"nameless": func(path string) error {
		return os.WriteFile(filepath.Dir(path)+"/copy.jsonl", []byte("{}\n"),
			0o600)
	},
	"not compressed": func(path string) error {
		return os.WriteFile(path+".zst", []byte(`{"type":"session_meta","payload":{}}`), 0o600)
	},
	"empty and compressed": func(path string) error {
		return os.WriteFile(path+".zst", []byte("\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"), 0o600)
	},
	"named pipe":  func(path string) error { return posix.Mkfifo(path, 0o600) },
	"lost link":   func(path string) error { return os.Symlink("gone", path) },
	"loop":        func(path string) error { return os.Symlink(filepath.Base(path), path) },
	"link to dir": func(path string) error { return os.Symlink("/", path) },
}

// TestFilesThatNoListShowsAreReportedOnce has such files before the first list, and creates others
// after it. The index reports the same ones as a list of the files.
func TestFilesThatNoListShowsAreReportedOnce(t *testing.T) {
	t.Parallel()
	for name, put := range unlistable {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(r.path(1), thread(`"id":"x"`, "sound"))
			place := func(n int) string {
				require.NoError(t, os.MkdirAll(filepath.Dir(r.path(n)), 0o700))
				return r.path(n)
			}
			require.NoError(t, put(place(2)))
			swept := make(chan struct{}, 16)
			r.ix.Watch(nil, func() { swept <- struct{}{} })
			r.list(rollout.Query{})
			<-swept
			require.Equal(t, r.skipped(), messages(r.ix.Skipped()))
			r.list(rollout.Query{})
			require.Empty(t, r.ix.Skipped(), "each once")

			require.NoError(t, put(place(9)))
			require.Equal(t, "sound", previews(r.list(rollout.Query{})))
			reported := messages(r.ix.Skipped())
			require.Len(t, reported, 1)
			require.Subset(t, r.skipped(), reported)
			r.list(rollout.Query{})
			require.Empty(t, r.ix.Skipped(), "each once")

			r.reopen()
			r.list(rollout.Query{})
			require.Equal(t, r.skipped(), messages(r.ix.Skipped()), "by another process, though the index knew of them")
		})
	}
}

// skipped returns the files that a list of all files skips.
func (r *rig) skipped() []string {
	page, err := r.store.List(rollout.Query{})
	require.NoError(r.t, err)
	require.NotEmpty(r.t, page.Skipped)
	return messages(page.Skipped)
}

func messages(errs []error) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	slices.Sort(all)
	return all
}
