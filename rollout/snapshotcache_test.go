package rollout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

// cached returns a thread of 100 lines that was loaded once.
func cached(t *testing.T) (store *rollout.Store, path, cache string) {
	dir := t.TempDir()
	store = rollout.NewStore(rollout.OS(), dir).InChunks(100, 1<<20, 1000)
	path = put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
	appendTo(t, store, path, 1, 100)
	require.Equal(t, 100, load(t, store, path))
	return store, path, filepath.Join(dir, "appserver-cache", threadA)
}

func appendTo(t *testing.T, store *rollout.Store, path string, from, to int) {
	t.Helper()
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(from, to), true))
	require.NoError(t, log.Close())
}

// load loads a rollout as it is, and tells how many lines it was given.
func load(t *testing.T, store *rollout.Store, path string) int {
	t.Helper()
	want, err := store.Read(path)
	require.NoError(t, err)
	return requireLoaded(t, store, want).read
}

func TestOnlyNewLinesAreReadOfALargeRollout(t *testing.T) {
	store, path, _ := cached(t)
	require.Equal(t, 0, load(t, store, path))
	appendTo(t, store, path, 100, 103)
	require.Equal(t, 3, load(t, store, path), "few new lines are not worth another cache")
	require.Equal(t, 3, load(t, store, path))
	appendTo(t, store, path, 103, 160)
	require.Equal(t, 60, load(t, store, path))
	require.Equal(t, 0, load(t, store, path))
}

func TestTheSnapshotCacheMatchesTheBackup(t *testing.T) {
	store, path, _ := cached(t)
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(100, 102), true))
	require.NoError(t, log.CloseRewritten(func(l protocol.RolloutLine) (protocol.RolloutLine, bool) {
		return l, *l.Ordinal%2 == 0
	}))
	require.FileExists(t, path+".bak")
	require.Equal(t, 3, load(t, store, path), "two lines, and the one that names the backup")
}

func TestAnInvalidSnapshotCacheCostsOnlyTime(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path, cache string){
		"lost": func(t *testing.T, _, cache string) { require.NoError(t, os.Remove(cache)) },
		"damaged": func(t *testing.T, _, cache string) {
			text := []byte(get(t, rollout.OS(), cache))
			text[len(text)/2] ^= 1
			overwrite(t, cache, string(text))
		},
		"cut off": func(t *testing.T, _, cache string) { overwrite(t, cache, get(t, rollout.OS(), cache)[:50]) },
		"empty":   func(t *testing.T, _, cache string) { overwrite(t, cache, "") },
		"a folder": func(t *testing.T, _, cache string) {
			require.NoError(t, os.Remove(cache))
			require.NoError(t, os.Mkdir(cache, 0o700))
		},
		"of another content": func(t *testing.T, path, _ string) {
			overwrite(t, path, strings.ReplaceAll(get(t, rollout.OS(), path), `"test"`, `"tent"`))
		},
		"of more": func(t *testing.T, path, _ string) {
			lines := strings.SplitAfter(get(t, rollout.OS(), path), "\n")
			overwrite(t, path, strings.Join(lines[:50], "")+strings.Repeat(" ", 1000)+strings.Join(lines[50:], "")[:300]+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, path, cache := cached(t)
			spoil(t, path, cache)
			require.Greater(t, load(t, store, path), 45)
		})
	}
}

func TestWhatAnotherProgramMadeOfARolloutIsNotUsed(t *testing.T) {
	store, path, _ := cached(t)
	store.SnapshotVersion = "another"
	require.Equal(t, 100, load(t, store, path))
	require.Equal(t, 0, load(t, store, path))
}

func TestASnapshotCacheGoesWithItsThread(t *testing.T) {
	store, _, cache := cached(t)
	require.FileExists(t, cache)
	require.NoError(t, store.Delete(threadA))
	require.NoFileExists(t, cache)
}

func TestASnapshotCacheGoesWhenSecretsDo(t *testing.T) {
	store, path, cache := cached(t)
	_, err := store.Redact(path, hide{}, false)
	require.NoError(t, err)
	require.FileExists(t, cache)
	_, err = store.Redact(path, hide{}, true)
	require.NoError(t, err)
	require.NoFileExists(t, cache)
	require.Equal(t, 100, load(t, store, path))
}

// TestRepairRemovesTheSnapshotCache has damage before the end of the cache, and lines after
// it.
func TestRepairRemovesTheSnapshotCache(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir).InChunks(100, 1<<20, 1000)
	var text strings.Builder
	for n := 1; n < 100; n++ {
		text.WriteString(numbered(n))
	}
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine+"no line\n"+text.String())
	require.Equal(t, 100, load(t, store, path))
	appendTo(t, store, path, 100, 103)
	_, err := store.Repair(path)
	require.NoError(t, err)
	load(t, store, path)
}

// TestAHistoryThatIsPutBackIsRead has a large file that goes on from one that is missing at first.
func TestAHistoryThatIsPutBackIsRead(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir).InChunks(100, 1<<20, 1000)
	paths := reverted(t, rollout.OS(), store)
	appendTo(t, store, paths[2], 7, 100)
	away := filepath.Join(dir, "away")
	require.NoError(t, os.Rename(paths[1], away))
	load(t, store, paths[2])
	require.NoError(t, os.Rename(away, paths[1]))
	load(t, store, paths[2])
}

// FuzzSnapshotCache loads arbitrary bytes, and again with other bytes appended.
func FuzzSnapshotCache(f *testing.F) {
	for _, first := range joinSeeds {
		for i, then := range joinSeeds {
			f.Add([]byte(first), []byte(then), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, first, then []byte, size uint8) {
		disk, mem := memStore()
		store := disk.InChunks(1+int64(size), 1<<20, 1)
		path := put(t, mem, store.PathFor(threadA, begin), string(first))
		load(t, store, path)
		file, err := mem.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = fmt.Fprintf(file, "%s", then)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		load(t, store, path)
		load(t, store, path)
	})
}

// hide takes a word out of lines.
type hide struct{}

func (hide) Text(text string) string { return strings.ReplaceAll(text, "longer", "******") }

func (hide) Line(line protocol.RolloutLine) protocol.RolloutLine {
	line.Payload = []byte(hide{}.Text(string(line.Payload)))
	return line
}
