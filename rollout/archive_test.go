package rollout_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

func TestARolloutGoesToTheArchiveAndBack(t *testing.T) {
	for name, disk := range map[string]func() rollout.FS{
		"with links":    rollout.OS,
		"without links": func() rollout.FS { return unlinked{rollout.OS()} },
	} {
		t.Run(name, func(t *testing.T) {
			dir, fs := t.TempDir(), disk()
			store, path := rewrittenThread(t, fs, dir)
			want, backup, content := readNumbers(t, store, path), get(t, fs, path+".bak"), get(t, fs, path)

			archived, err := store.Archive(path)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, "archived_sessions", filepath.Base(path)), archived)
			require.True(t, store.IsArchived(archived))
			require.False(t, store.IsArchived(path))
			require.Equal(t, []string{archived, archived + ".bak"}, filesBelow(t, dir))
			require.Equal(t, []string{content, backup}, []string{get(t, fs, archived), get(t, fs, archived+".bak")})
			require.Equal(t, want, readNumbers(t, store, archived))
			found, err := store.Find(threadA)
			require.NoError(t, err)
			require.Equal(t, archived, found)

			back, err := store.Unarchive(archived)
			require.NoError(t, err)
			require.Equal(t, path, back)
			require.Equal(t, []string{path, path + ".bak"}, filesBelow(t, dir))
			require.Equal(t, want, readNumbers(t, store, path))
			require.NoError(t, appendAndClose(t, store, path, evenOnly, line(6)), "and can be rewritten again")
			require.Equal(t, append(want, 6), readNumbers(t, store, path))
		})
	}
}

// unlinked is a file system without hard links.
type unlinked struct{ rollout.FS }

func (u unlinked) Link(path, second string) error {
	return &os.LinkError{Op: "link", Old: path, New: second, Err: syscall.EPERM}
}

func readNumbers(t *testing.T, store *rollout.Store, path string) []int64 {
	t.Helper()
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.True(t, contents.Backup.Joined, "%v", contents.Backup.Err)
	return numbers(contents)
}

// filesBelow returns the paths of all files below a folder.
func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && strings.Contains(path, "rollout-") {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

func TestPathsThatCannotBeArchived(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		call func(*rollout.Store, string) (string, error)
		says string
	}{
		"gone": {"sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + threadB + ".jsonl",
			(*rollout.Store).Archive, "no rollout found for thread id " + threadB},
		"elsewhere": {"elsewhere/rollout-2026-01-02T03-04-05-" + threadA + ".jsonl", (*rollout.Store).Archive,
			"it is not below sessions"},
		"without a thread": {"sessions/notes.jsonl", (*rollout.Store).Archive, "has no thread id"},
		"in the archive": {"archived_sessions/rollout-2026-01-02T03-04-05-" + threadA + ".jsonl",
			(*rollout.Store).Archive, "it is not below sessions"},
		"not in the archive": {"sessions/rollout-2026-01-02T03-04-05-" + threadA + ".jsonl", (*rollout.Store).Unarchive,
			"it is not below sessions or archived_sessions"},
		"unnamed": {"archived_sessions/notes.jsonl", (*rollout.Store).Unarchive, "has no thread id"},
		"without a date": {"archived_sessions/rollout-old-" + threadA + ".jsonl", (*rollout.Store).Unarchive,
			"rename it in that form"},
	} {
		t.Run(name, func(t *testing.T) {
			mem := faultfs.NewMem(home)
			store := rollout.NewStore(mem, home)
			path := filepath.Join(home, c.path)
			if name != "gone" {
				put(t, mem, path, metaLine)
			}
			before := mem.Files(home)
			_, err := c.call(store, path)
			require.ErrorContains(t, err, c.says)
			require.Subset(t, before, rolloutsOf(mem))
			require.Empty(t, mem.Held())
		})
	}
}

func rolloutsOf(mem *faultfs.Mem) (paths []string) {
	for _, path := range mem.Files(home) {
		if strings.Contains(path, "rollout-") {
			paths = append(paths, path)
		}
	}
	return paths
}

// TestNothingIsMovedInThePlaceOfAnother has another file of the thread, or a file that is not
// its backup, at the target.
func TestNothingIsMovedInThePlaceOfAnother(t *testing.T) {
	for _, other := range []string{"rollout-2026-01-02T03-04-05-%.jsonl", "rollout-2020-01-02T03-04-05-%.jsonl",
		"rollout-2026-01-02T03-04-05-%.jsonl.bak"} {
		mem := faultfs.NewMem(home)
		store, path := rewrittenThread(t, mem, home)
		there := put(t, mem, filepath.Join(home, "archived_sessions", strings.ReplaceAll(other, "%", threadA)),
			"something else\n")
		before := rolloutsOf(mem)
		_, err := store.Archive(path)
		require.ErrorContains(t, err, there)
		require.ErrorContains(t, err, "move that file away")
		require.Equal(t, before, rolloutsOf(mem))
		require.Equal(t, "something else\n", get(t, mem, there))
		require.Equal(t, []int64{1, 2, 3, 4, 5}, readNumbers(t, store, path))
		if !strings.HasSuffix(other, ".bak") {
			require.ErrorContains(t, store.CheckArchive(path), there)
		}
	}
}

func TestALinkIsNotArchived(t *testing.T) {
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	require.NoError(t, os.Rename(path, filepath.Join(dir, "elsewhere")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), path))
	_, err := store.Archive(path)
	require.ErrorContains(t, err, "it is a symbolic link")
	require.FileExists(t, path)
}

// TestABackupThatIsALinkIsCopied checks that the target of a relative link is copied.
func TestABackupThatIsALinkIsCopied(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	require.NoError(t, os.Rename(path+".bak", path+".other"))
	require.NoError(t, os.Symlink(filepath.Base(path)+".other", path+".bak"))
	want := readNumbers(t, store, path)
	archived, err := store.Archive(path)
	require.NoError(t, err)
	require.Equal(t, want, readNumbers(t, store, archived))
	require.NoFileExists(t, path+".bak")
	require.FileExists(t, path+".other")
}

func TestAThreadWithAWriterIsNotArchived(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	log, _, err := store.Open(path)
	require.NoError(t, err)
	_, err = store.Archive(path)
	requireLocked(t, err)
	require.FileExists(t, path)
	require.NoError(t, log.Close())
	archived, err := store.Archive(path)
	require.NoError(t, err)
	log, _, err = store.Open(archived)
	require.NoError(t, err)
	_, err = store.Unarchive(archived)
	requireLocked(t, err)
	require.NoError(t, log.Close())
}

// TestAnInterruptedMoveIsFinished has both names of the rollout, and an older backup at the
// target.
func TestAnInterruptedMoveIsFinished(t *testing.T) {
	mem := faultfs.NewMem(home)
	store, path := rewrittenThread(t, mem, home)
	want := readNumbers(t, store, path)
	archived := filepath.Join(home, "archived_sessions", filepath.Base(path))
	put(t, mem, archived+".bak", metaLine)
	require.NoError(t, mem.Link(path, archived))
	_, err := store.Archive(path)
	require.NoError(t, err)
	require.Equal(t, []string{archived, archived + ".bak"}, rolloutsOf(mem))
	require.Equal(t, want, readNumbers(t, store, archived))
}

// TestABackupThatWasLeftBehindIsFound moves the rollout without its backup, there and back.
func TestABackupThatWasLeftBehindIsFound(t *testing.T) {
	dir := t.TempDir()
	store, path := rewrittenThread(t, rollout.OS(), dir)
	want := readNumbers(t, store, path)
	archived := filepath.Join(dir, "archived_sessions", filepath.Base(path))
	require.NoError(t, os.Mkdir(filepath.Dir(archived), 0o700))
	require.NoError(t, os.Rename(path, archived))
	require.Equal(t, want, readNumbers(t, store, archived))
	log, _, err := store.Open(archived)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.Equal(t, []string{archived, archived + ".bak"}, filesBelow(t, dir))

	require.NoError(t, os.Rename(archived, path))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, line(6)))
	require.Equal(t, append(want, 6), readNumbers(t, store, path))
	require.Equal(t, []string{path, path + ".bak"}, filesBelow(t, dir))

	require.NoError(t, os.Rename(path, archived))
	back, err := store.Unarchive(archived)
	require.NoError(t, err)
	require.Equal(t, append(want, 6), readNumbers(t, store, back))
}

func TestEveryOperationThatBringsABackupMayFail(t *testing.T) {
	sample.NoRace(t)
	for n, hit := 0, true; hit; n++ {
		mem := faultfs.NewMem(home)
		store, path := rewrittenThread(t, mem, home)
		archived := filepath.Join(home, "archived_sessions", filepath.Base(path))
		require.NoError(t, mem.MkdirAll(filepath.Dir(archived), 0o700))
		require.NoError(t, mem.Rename(path, archived))
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.EIO})
		if log, _, err := rollout.NewStore(disk, home).Open(archived); err == nil {
			_ = log.Close() // Close may be the failing operation
		}
		require.Equal(t, []int64{1, 2, 3, 4, 5}, readNumbers(t, store, archived), n)
		require.Empty(t, mem.Held())
		hit = disk.Failures() > 0
	}
}

func TestFindArchived(t *testing.T) {
	store, path := rewrittenThread(t, rollout.OS(), t.TempDir())
	_, err := store.FindArchived(threadA)
	var missing *rollout.NotArchivedError
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, "no archived rollout found for thread id "+threadA)
	archived, err := store.Archive(path)
	require.NoError(t, err)
	found, err := store.FindArchived(threadA)
	require.NoError(t, err)
	require.Equal(t, archived, found)
}
