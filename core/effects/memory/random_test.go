package memory_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/effects/memory"
	"appserver/test/sample"
)

// world is a home with two stores on it, and what should be in it.
type world struct {
	*rig
	stores [2]*memory.Store
	// rows are kept by id, files by repository and path.
	rows  map[string]memory.Row
	files map[[2]string]memory.CodeFile
	made  int
}

var randomWords = []string{"cache", "deploy", "getUser", "user_name", "端口", "port", "refund"}

func (w *world) repo(rt *rapid.T) string {
	return rapid.SampledFrom([]string{repo, "/home/ann/other"}).Draw(rt, "repo")
}

func (w *world) store(rt *rapid.T) *memory.Store {
	return w.stores[rapid.IntRange(0, 1).Draw(rt, "store")]
}

func (w *world) text(rt *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(randomWords), 1, 4).Draw(rt, "words"), " ")
}

func (w *world) appendRows(rt *rapid.T) {
	var rows []memory.Row
	for range rapid.IntRange(1, 5).Draw(rt, "rows") {
		w.made++
		rows = append(rows, memory.Row{RepoKey: w.repo(rt), SessionID: "s", TS: int64(w.made), Kind: memory.Summary,
			Title: fmt.Sprint("row ", w.made), Text: w.text(rt), MsgIDs: []string{}})
	}
	require.NoError(rt, w.store(rt).Append(w.Context(), rows))
	for _, r := range rows {
		w.rows[r.ID()] = r
	}
}

// again appends a row that is or was there.
func (w *world) again(rt *rapid.T) {
	row := memory.Row{RepoKey: repo, SessionID: "s", TS: 0, Kind: memory.Summary, Title: "row 0", Text: "port",
		MsgIDs: []string{}}
	require.NoError(rt, w.store(rt).Append(w.Context(), []memory.Row{row}))
	w.rows[row.ID()] = row
}

func (w *world) forget(rt *rapid.T) {
	ids := w.ids()
	if len(ids) == 0 {
		return
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, min(3, len(ids)), rapid.ID[string]).Draw(rt, "ids")
	n, err := w.store(rt).Forget(w.Context(), memory.Selection{IDs: some})
	require.NoError(rt, err)
	require.Equal(rt, len(some), n)
	for _, id := range some {
		delete(w.rows, id)
	}
}

func (w *world) forgetAll(rt *rapid.T) {
	of := w.repo(rt)
	_, err := w.store(rt).Forget(w.Context(), memory.Selection{All: true, RepoKey: of})
	require.NoError(rt, err)
	for id, r := range w.rows {
		if r.RepoKey == of {
			delete(w.rows, id)
		}
	}
	for key := range w.files {
		if key[0] == of {
			delete(w.files, key)
		}
	}
}

func (w *world) putCode(rt *rapid.T) {
	w.made++
	of, path := w.repo(rt), rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(rt, "path")
	f := memory.CodeFile{Path: path, Hash: fmt.Sprint(w.made)}
	for n := range rapid.IntRange(0, 2).Draw(rt, "chunks") {
		f.Chunks = append(f.Chunks, memory.Chunk{Title: fmt.Sprintf("%s:%d", path, n), Text: w.text(rt)})
	}
	require.NoError(rt, w.store(rt).PutCode(w.Context(), of, []memory.CodeFile{f}))
	w.files[[2]string{of, path}] = f
}

func (w *world) dropCode(rt *rapid.T) {
	of := w.repo(rt)
	require.NoError(rt, w.store(rt).DropCode(w.Context(), of, []string{"a.go"}))
	delete(w.files, [2]string{of, "a.go"})
}

// tear leaves part of a line, as a crash does.
func (w *world) tear(rt *rapid.T) {
	f, err := os.OpenFile(w.path("memory.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, err = f.WriteString(`{"repo_key":"/home/ann/sh`)
	require.NoError(rt, err)
	require.NoError(rt, f.Close())
}

// restart replaces a process by another one.
func (w *world) restart(rt *rapid.T) {
	n := rapid.IntRange(0, 1).Draw(rt, "store")
	require.NoError(rt, w.stores[n].Close())
	w.stores[n] = memory.Open(w.options)
}

// lose takes the database away, and what is in it alone.
func (w *world) lose(rt *rapid.T) {
	for _, s := range w.stores {
		require.NoError(rt, s.Close())
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(w.path("memory.sqlite" + suffix)) // it may not be there
	}
	clear(w.files)
	w.stores = [2]*memory.Store{memory.Open(w.options), memory.Open(w.options)}
}

func (w *world) ids() (ids []string) {
	for id := range w.rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// expected returns the titles and texts that should be there.
func (w *world) expected() (all []string) {
	for _, r := range w.rows {
		all = append(all, r.RepoKey+" "+r.Title+": "+r.Text)
	}
	for key, f := range w.files {
		for _, c := range f.Chunks {
			all = append(all, key[0]+" "+c.Title+": "+c.Text)
		}
	}
	return all
}

func (w *world) check(rt *rapid.T) {
	for _, s := range w.stores {
		var got, found []string
		for cursor := ""; ; {
			rows, next, err := s.List(w.Context(), memory.Filter{Cursor: cursor, Limit: 7})
			require.NoError(rt, err)
			for _, h := range rows {
				got = append(got, h.RepoKey+" "+h.Title+": "+h.Text)
			}
			if cursor = next; next == "" {
				break
			}
		}
		require.ElementsMatch(rt, w.expected(), got)
		hits, err := s.Search(w.Context(), memory.Query{Text: strings.Join(randomWords, " "), Limit: 200})
		require.NoError(rt, err)
		for _, h := range hits {
			found = append(found, h.RepoKey+" "+h.Title+": "+h.Text)
		}
		require.ElementsMatch(rt, w.expected(), found)
	}
}

// TestStoresDoWhatTheyShould does random things to a home, and looks after each at what both stores
// give.
func TestStoresDoWhatTheyShould(t *testing.T) {
	sample.NoRace(t)
	sample.Check(t, func(rt *rapid.T) {
		home, err := os.MkdirTemp(t.TempDir(), "home")
		require.NoError(rt, err)
		w := &world{rig: &rig{T: t, home: home, options: memory.Options{Home: home}}, rows: map[string]memory.Row{},
			files: map[[2]string]memory.CodeFile{}}
		w.stores = [2]*memory.Store{memory.Open(w.options), memory.Open(w.options)}
		defer func() {
			for _, s := range w.stores {
				require.NoError(rt, s.Close())
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"append": w.appendRows, "again": w.again, "forget": w.forget, "forget all": w.forgetAll, "put code": w.putCode,
			"drop code": w.dropCode,
			"tear":      w.tear, "restart": w.restart, "lose": w.lose, "": w.check,
		})
	})
}
