package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/database"
	"appserver/rollout"
	"appserver/test/sample"
)

func TestNothingIsOpenedBeforeItIsAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ix.Note(r.path(1))
	require.NoFileExists(t, r.file())
}

func TestTheFilesAnswerUntilTheIndexIsBuilt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread(`"id":"x"`, "one"))
	_, ok := r.ix.List(rollout.Query{})
	require.False(t, ok)
	require.Equal(t, "one", previews(r.list(rollout.Query{})))
	info, err := os.Stat(r.file())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestAPageReadsNoRollouts takes the content of files away behind the index's back.
func TestAPageReadsNoRollouts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 5 {
		r.put(r.path(n), thread(`"id":"x"`, "kept"))
	}
	r.built()
	for n := range 5 {
		info, err := os.Stat(r.path(n))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(r.path(n), []byte(strings.Repeat("\n", int(info.Size()))), 0))
		require.NoError(t, os.Chtimes(r.path(n), info.ModTime(), info.ModTime()))
	}
	require.Equal(t, "kept, kept, kept, kept, kept", previews(r.list(rollout.Query{})))
}

func TestWhatOthersWriteIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 3 * maxRecent {
		r.put(r.path(n), thread(`"id":"x"`, "old"))
	}
	r.built()
	r.put(r.path(3*maxRecent), thread(`"id":"x"`, "new"))
	require.Equal(t, "new, old", previews(r.list(rollout.Query{Limit: 2})))
	more := strings.ReplaceAll(agentLine("more"), `"timestamp":""`, `"timestamp":"2027-01-02T03:04:05Z"`)
	r.add(r.path(0), more)
	r.ix.Note(r.path(0))
	page := r.list(rollout.Query{Limit: 1, SortKey: rollout.SortUpdated})
	require.Equal(t, r.path(0), page.Heads[0].Path, "that this process wrote to it was noted")
	r.add(r.path(1), more)
	page = r.list(rollout.Query{Limit: 1, Ascending: true, SortKey: rollout.SortUpdated})
	require.NotEqual(t, r.path(1), page.Heads[0].Path, "a file on the page is looked at")
	require.NoError(t, os.Remove(r.path(3*maxRecent)))
	require.Equal(t, "old", previews(r.list(rollout.Query{Limit: 1})))
}

// TestAPageByCreationLooksAtItsFolders expects a page to show every change that concerns it, and to leave older
// folders to other lists.
func TestAPageByCreationLooksAtItsFolders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 40 {
		r.put(r.path(n), thread(`"id":"x"`, fmt.Sprint(n)))
	}
	r.built()
	newest := rollout.Query{Limit: 3}
	require.Equal(t, "39, 38, 37", previews(r.list(newest)))
	r.put(r.path(40), thread(`"id":"x"`, "40"))
	between := r.store.PathFor(idOf(100), begin.Add(33*13*time.Hour+time.Hour))
	r.put(between, thread(`"id":"x"`, "between"))
	require.NoError(t, os.Remove(r.path(5)))
	require.Equal(t, "40, 39, 38", previews(r.list(newest)))
	require.Len(t, r.indexed(), 41, "older folders were not looked at")

	for n := 35; n < 41; n++ {
		require.NoError(t, os.Remove(r.path(n)))
	}
	require.Equal(t, "34, between, 33", previews(r.list(newest)))
	require.Len(t, r.indexed(), 36)

	r.put(r.store.PathFor(idOf(101), begin.Add(31*13*time.Hour+time.Minute)), thread(`"id":"x"`, "older"))
	for _, n := range []int{33, 34} {
		r.put(r.store.PathFor(idOf(n), begin.Add(50*13*time.Hour)), thread(`"id":"x"`))
	}
	require.Equal(t, "between, 32, older", previews(r.list(newest)), "the page reaches folders that it did not reach before")
	require.Len(t, r.indexed(), 38, "all folders were looked at")
}

// TestEachFileHasItsOwnTime reads several files of the same form with one buffer.
func TestEachFileHasItsOwnTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 9 {
		r.put(r.path(n), strings.ReplaceAll(thread(`"id":"x"`, "one"), `"timestamp":""`,
			fmt.Sprintf(`"timestamp":"2027-01-02T03:04:%02dZ"`, 10+n)))
	}
	r.built()
	for n, h := range r.list(rollout.Query{Ascending: true}).Heads {
		require.Equal(t, 10+n, h.UpdatedAt.Second(), h.Path)
	}
}

// TestOnlyNewBytesAreRead changes what was read before: the index does not see it.
func TestOnlyNewBytesAreRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	begin := thread(`"id":"x"`, strings.Repeat("long ", 500), "first answer")
	r.put(r.path(1), begin)
	r.built()
	f, err := os.OpenFile(r.path(1), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("FIRST"), int64(strings.Index(begin, "first")))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	r.add(r.path(1), "no JSON\n"+agentLine("second answer"))
	require.Equal(t, "first answer", snippets(r.search(rollout.Query{Search: "first a"})))
	require.Equal(t, "second answer", snippets(r.search(rollout.Query{Search: "second a"})))
	r.put(r.path(1), thread(`"id":"y"`, "anew", "third"))
	require.Empty(t, r.search(rollout.Query{Search: "second a"}).Hits)
	require.Equal(t, "third", snippets(r.search(rollout.Query{Search: "third"})))
}

func TestATornLineIsReadOnceItIsWhole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	line := agentLine("the answer")
	r.put(r.path(1), thread(`"id":"x"`, "question")+line[:70])
	r.built()
	r.add(r.path(1), line[70:])
	require.Equal(t, "the answer", snippets(r.search(rollout.Query{Search: "answer"})))
}

func TestAFileThatCannotBeUsedIsMovedAside(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, r *rig){
		"no database": func(t *testing.T, r *rig) {
			require.NoError(t, os.WriteFile(r.file(), []byte(strings.Repeat("garbage ", 4096)), 0o600))
		},
		"another version": func(t *testing.T, r *rig) {
			db, err := database.OpenInPlace(r.file(), kind())
			require.NoError(t, err)
			_, err = db.Write.Exec("PRAGMA user_version = 99")
			require.NoError(t, err)
			require.NoError(t, db.Close())
		},
		"a table is missing": func(t *testing.T, r *rig) {
			db, err := database.OpenInPlace(r.file(), kind())
			require.NoError(t, err)
			_, err = db.Write.Exec("DROP TABLE sessions")
			require.NoError(t, err)
			require.NoError(t, db.Close())
		},
		"a page is garbage": func(t *testing.T, r *rig) {
			data, err := os.ReadFile(r.file())
			require.NoError(t, err)
			for i := 4096; i < len(data); i++ {
				data[i] ^= 0x55
			}
			require.NoError(t, os.WriteFile(r.file(), data, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(r.path(1), thread(`"id":"x"`, "one"))
			r.built()
			require.NoError(t, r.ix.Close(context.Background()))
			spoil(t, r)
			r.reopen()
			require.Equal(t, "one", previews(r.list(rollout.Query{})))
			require.FileExists(t, r.file()+database.DamagedSuffix)
		})
	}
}

func TestAFileThatIsTakenAwayIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread(`"id":"x"`, "one"))
	r.built()
	require.NoError(t, os.Remove(r.file()))
	_, ok := r.ix.List(rollout.Query{})
	require.False(t, ok, "the files are asked meanwhile")
	require.Equal(t, "one", previews(r.list(rollout.Query{})))
	require.FileExists(t, r.file())
}

func TestAFileThatCannotBeOpenedIsDoneWithout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, os.Mkdir(r.file(), 0o700))
	_, ok := r.ix.List(rollout.Query{})
	require.False(t, ok)
	_, err := r.ix.Search(r.context(), rollout.Query{Search: "x"})
	require.ErrorIs(t, err, rollout.ErrNoIndex)
	require.Len(t, r.faults, 1, "it is not tried again at once")
}

// TestTwoServersShareAnIndex lets both find the same files.
func TestTwoServersShareAnIndex(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := rigAt(t, r.home)
	defer func() { require.NoError(t, other.ix.Close(context.Background())) }()
	for n := range 50 {
		r.put(r.path(n), thread(`"id":"x"`, "question", "answer"))
	}
	_, _ = r.ix.List(rollout.Query{})
	_, _ = other.ix.List(rollout.Query{})
	for _, each := range []*rig{r, other} {
		require.Len(t, each.list(rollout.Query{}).Heads, 50)
		require.Len(t, each.search(rollout.Query{Search: "answer"}).Hits, 50)
	}
	r.requireSound(100)
}

// TestARowThatAnotherServerWroteIsCheckedAgain lets another server write the row of a file after this one has looked
// it up, with fewer lines than the file has now.
func TestARowThatAnotherServerWroteIsCheckedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.path(0)
	root, rel, _ := r.store.RelPath(path)
	at := location{root, rel}
	r.put(path, thread(`"id":"x"`, "one"))
	r.list(rollout.Query{})
	known := r.indexed()[at]
	r.add(path, agentLine("two"))
	r.list(rollout.Query{})
	r.add(path, agentLine("three"))
	for _, lookedUp := range []indexedState{known, {}} {
		look := folderScan{store: r.store}
		look.checkFile(at, lookedUp)
		r.ix.mu.Lock()
		require.NoError(t, r.ix.applyLocked(&look))
		r.ix.mu.Unlock()
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, info.Size(), r.indexed()[at].size)
	}
	r.requireSound(3)
}

// requireSound checks the database itself, and how many messages it has.
func (r *rig) requireSound(messages int) {
	var count int
	require.NoError(r.t, r.ix.db.Read.QueryRow("SELECT count(*) FROM messages").Scan(&count))
	require.Equal(r.t, messages, count)
	_, err := r.ix.db.Write.Exec("INSERT INTO found(found, rank) VALUES ('integrity-check', 1)")
	require.NoError(r.t, err)
}

// TestALongFileIsReadInPieces has more text than a batch.
func TestALongFileIsReadInPieces(t *testing.T) {
	sample.NoRace(t)
	t.Parallel()
	r := newRig(t)
	text := strings.Repeat("many words ", 5000)
	var texts []string
	for n := range sampled(300) {
		texts = append(texts, idOf(n)+text)
	}
	r.put(r.path(1), thread(`"id":"x"`, texts...)+agentLine("the needle"))
	require.Equal(t, "the needle", snippets(r.search(rollout.Query{Search: "needle"})))
	r.requireSound(sampled(300) + 1)
}

func TestProgressOfALongBuildIsReported(t *testing.T) {
	t.Parallel()
	var reports []Progress
	p := progress{report: func(p Progress) { reports = append(reports, p) }, total: 9, last: time.Now()}
	p.update(3)
	p.finish()
	require.Empty(t, reports, "a short sweep is not reported")
	p.last = time.Time{}
	p.update(5)
	p.update(6)
	p.finish()
	require.Equal(t, []Progress{{5, 9}, {9, 9}}, reports)
}

func TestRolloutsAreNeverWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread(`"id":"x"`, "one")+"torn")
	require.NoError(t, os.Chmod(filepath.Dir(r.path(1)), 0o500))
	require.NoError(t, os.Chmod(r.path(1), 0o400))
	before, err := os.ReadFile(r.path(1))
	require.NoError(t, err)
	require.Equal(t, "one", previews(r.list(rollout.Query{})))
	after, err := os.ReadFile(r.path(1))
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.NoError(t, os.Chmod(filepath.Dir(r.path(1)), 0o700))
}

// TestALongFilterIsNoDamage asks with more values than SQLite takes arguments.
func TestALongFilterIsNoDamage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread(`"id":"x","cwd":"/w"`, "kept"))
	r.built()
	cwds := []string{"/w"}
	for n := range 40_000 {
		cwds = append(cwds, fmt.Sprintf("/x%d", n))
	}
	require.Equal(t, "kept", previews(r.list(rollout.Query{Cwds: cwds})))
	require.Empty(t, previews(r.list(rollout.Query{Excluded: []string{idOf(1)}, Cwds: cwds})))
}
