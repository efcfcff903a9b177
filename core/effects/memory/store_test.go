package memory_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
)

const repo = "/home/ann/shop"

// rig is a home and a store on it.
type rig struct {
	*testing.T
	home     string
	options  memory.Options
	store    *memory.Store
	warnings chan string
}

func newRig(t *testing.T, change ...func(o *memory.Options)) *rig {
	r := &rig{T: t, home: filepath.Join(t.TempDir(), "home"), warnings: make(chan string, 100)}
	r.options = memory.Options{Home: r.home, Warn: func(message string) { r.warnings <- message }}
	for _, c := range change {
		c(&r.options)
	}
	r.store = memory.Open(r.options)
	t.Cleanup(func() { require.NoError(t, r.store.Close()) })
	return r
}

// other returns another store on the same home, as another process has.
func (r *rig) other() *memory.Store {
	s := memory.Open(r.options)
	r.Cleanup(func() { require.NoError(r, s.Close()) })
	return s
}

func (r *rig) path(name string) string { return filepath.Join(r.home, name) }

func (r *rig) read(name string) string {
	r.Helper()
	data, err := os.ReadFile(r.path(name))
	require.NoError(r, err)
	return string(data)
}

func (r *rig) write(name, text string) {
	r.Helper()
	require.NoError(r, os.MkdirAll(r.home, 0o700))
	require.NoError(r, os.WriteFile(r.path(name), []byte(text), 0o600))
}

func (r *rig) append(rows ...memory.Row) {
	r.Helper()
	require.NoError(r, r.store.Append(r.Context(), rows))
}

// warned returns the warnings so far.
func (r *rig) warned() (all []string) {
	for {
		select {
		case w := <-r.warnings:
			all = append(all, w)
		default:
			return all
		}
	}
}

// row returns a summary of some moment.
func row(ts int64, title, text string) memory.Row {
	return memory.Row{RepoKey: repo, SessionID: "s1", TS: ts, Kind: memory.Summary, Title: title, Text: text,
		MsgIDs: []string{"m1"}}
}

func search(t testing.TB, s *memory.Store, text string) (titles []string) {
	t.Helper()
	hits, err := s.Search(context.Background(), memory.Query{RepoKey: repo, Text: text})
	require.NoError(t, err)
	for _, h := range hits {
		titles = append(titles, h.Title)
	}
	return titles
}

func list(t testing.TB, s *memory.Store) (titles []string) {
	t.Helper()
	rows, _, err := s.List(context.Background(), memory.Filter{Limit: 200})
	require.NoError(t, err)
	for _, h := range rows {
		titles = append(titles, h.Title)
	}
	return titles
}

func TestNothingIsMadeBeforeItIsNeeded(t *testing.T) {
	r := newRig(t)
	require.Empty(t, search(t, r.store, "anything"))
	require.Empty(t, list(t, r.store))
	n, err := r.store.Forget(t.Context(), memory.Selection{All: true})
	require.NoError(t, err)
	require.Zero(t, n)
	files, err := r.store.CodeFiles(t.Context(), repo)
	require.NoError(t, err)
	require.Empty(t, files)
	st, err := r.store.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, memory.Status{Path: r.path("memory.jsonl"), Rows: map[string]int64{}}, st)
	require.NoDirExists(t, r.home)
	r.append()
	require.NoDirExists(t, r.home)
}

func TestRowsAreLinesAndAreFound(t *testing.T) {
	r := newRig(t)
	first := row(1_700_000_000_000, "Database port", `The test database listens on port 5433, not "5432".`)
	r.append(first, row(1_700_000_000_001, "Linting", "Run golangci-lint before every commit."))
	require.Equal(t, `{"repo_key":"/home/ann/shop","session_id":"s1","ts":1700000000000,"kind":"summary","title":"Database port","text":"The test database listens on port 5433, not \"5432\".","msg_ids":["m1"]}
{"repo_key":"/home/ann/shop","session_id":"s1","ts":1700000000001,"kind":"summary","title":"Linting","text":"Run golangci-lint before every commit.","msg_ids":["m1"]}
`, r.read("memory.jsonl"))

	hits, err := r.store.Search(t.Context(), memory.Query{RepoKey: repo, Text: "On which port does the database listen?"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Equal(t, first, hits[0].Row)
	require.Equal(t, first.ID(), hits[0].ID)
	require.InDelta(t, 1, hits[0].Match, 0.001)
	require.Zero(t, hits[0].Similarity)
	require.Equal(t, []string{"Linting", "Database port"}, list(t, r.store))
	for _, name := range []string{"memory.jsonl", "memory.jsonl.lock", "memory.sqlite", "memory.sqlite-wal"} {
		info, err := os.Stat(r.path(name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	require.Empty(t, r.warned())
}

func TestRepositoriesDoNotSeeEachOther(t *testing.T) {
	r := newRig(t)
	theirs := row(1, "theirs", "the port is 1")
	theirs.RepoKey = "/home/ann/other"
	r.append(row(2, "ours", "the port is 2"), theirs)
	require.Equal(t, []string{"ours"}, search(t, r.store, "port"))
	hits, err := r.store.Search(t.Context(), memory.Query{Text: "port"})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	hits, err = r.store.Search(t.Context(), memory.Query{RepoKey: "/home/nobody", Text: "port"})
	require.NoError(t, err)
	require.Empty(t, hits)
}

func TestSearchesAreNarrowed(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.store.PutCode(t.Context(), repo,
		[]memory.CodeFile{{Path: "a.go", Hash: "1",
			Chunks: []memory.Chunk{{Title: "a.go:1-3", Text: "func listenPort() int"}}}}))
	r.append(row(1, "one", "the port is 1"), row(2, "two", "the port is 2"), row(3, "three", "the port is 3"))
	find := func(q memory.Query) (titles []string) {
		q.RepoKey, q.Text = repo, "port"
		hits, err := r.store.Search(t.Context(), q)
		require.NoError(t, err)
		for _, h := range hits {
			titles = append(titles, h.Title)
		}
		return titles
	}
	require.Equal(t, []string{"three", "two", "one", "a.go:1-3"}, find(memory.Query{}))
	require.Equal(t, []string{"a.go:1-3"}, find(memory.Query{Kinds: []string{memory.Code}}))
	require.Equal(t, []string{"three", "two"}, find(memory.Query{Kinds: []string{memory.Summary}, Limit: 2}))
	require.Equal(t, []string{"two", "one"},
		find(memory.Query{Limit: 2, Exclude: func(h memory.Hit) bool { return h.Title == "three" }}))
	require.Empty(t, find(memory.Query{Kinds: []string{"dream"}}))
}

func TestListsHavePages(t *testing.T) {
	r := newRig(t)
	for n := range 25 {
		r.append(row(int64(n/3), strings.Repeat("x", n+1), "text"))
	}
	var titles []string
	for cursor := ""; ; {
		rows, next, err := r.store.List(t.Context(),
			memory.Filter{RepoKey: repo, Kind: memory.Summary, SessionID: "s1", Cursor: cursor})
		require.NoError(t, err)
		require.LessOrEqual(t, len(rows), 10)
		for _, h := range rows {
			titles = append(titles, h.Title)
		}
		if cursor = next; next == "" {
			break
		}
	}
	require.Len(t, titles, 25)
	for n, title := range titles {
		require.Len(t, title, 25-n)
	}
	rows, next, err := r.store.List(t.Context(), memory.Filter{SessionID: "s2"})
	require.NoError(t, err)
	require.Empty(t, rows)
	require.Empty(t, next)
	for _, cursor := range []string{"x", "1", "1.x", ".", "1.2.3"} {
		_, _, err = r.store.List(t.Context(), memory.Filter{Cursor: cursor})
		var wrong *memory.CursorError
		require.ErrorAs(t, err, &wrong, cursor)
		require.Equal(t, "invalid cursor: "+cursor+" (use one that a list returned)", err.Error())
	}
}

// TestItIsKnownWhatSummariesStandFor, however many there are.
func TestItIsKnownWhatSummariesStandFor(t *testing.T) {
	r := newRig(t)
	none, err := r.store.Summarized(t.Context(), "s1", []string{"m1"})
	require.NoError(t, err)
	require.Empty(t, none)
	rows := make([]memory.Row, 1500)
	for i := range rows {
		rows[i] = row(int64(i), "title", "text")
		rows[i].MsgIDs = []string{fmt.Sprint("a", i), fmt.Sprint("b", i)}
	}
	rows[7].SessionID = "s2"
	r.append(rows...)
	known, err := r.store.Summarized(t.Context(), "s1", []string{"a0", "b0", "a7", "b1499", "c1", `"`})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"a0": true, "b0": true, "b1499": true}, known)
	known, err = r.store.Summarized(t.Context(), "s1", nil)
	require.NoError(t, err)
	require.Empty(t, known)
}

func TestARowThatIsAppendedTwiceIsOne(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"), row(1, "one", "text"))
	r.append(row(1, "one", "text"))
	require.Equal(t, []string{"one"}, list(t, r.store))
	require.Len(t, search(t, r.store, "text"), 1)
}

func TestRowsThatAreNoneAreRefused(t *testing.T) {
	r := newRig(t)
	for _, bad := range []memory.Row{{}, {RepoKey: repo, Kind: memory.Code, Text: "x"}, {RepoKey: repo, Text: "x"},
		{Kind: memory.Summary, Text: "x"}, {RepoKey: repo, Kind: memory.Summary}} {
		require.ErrorContains(t, r.store.Append(t.Context(), []memory.Row{row(1, "good", "good"), bad}), "cannot be appended")
	}
	require.NoFileExists(t, r.path("memory.jsonl"))
}

func TestStoredTextHasNoSecrets(t *testing.T) {
	r := newRig(t, func(o *memory.Options) {
		o.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	})
	r.append(row(1, "hunter2 it is", "the password is hunter2"))
	require.NoError(t, r.store.PutCode(t.Context(), repo,
		[]memory.CodeFile{{Path: "a.go", Hash: "1", Chunks: []memory.Chunk{{Title: "a.go", Text: `password = "hunter2"`}}}}))
	require.ElementsMatch(t, []string{"[redacted] it is", "a.go"}, search(t, r.store, "password"))
	require.NotContains(t, r.read("memory.jsonl"), "hunter2")
	require.NoError(t, r.store.Close())
	require.NotContains(t, r.read("memory.sqlite"), "hunter2")
}

func TestAClosedStoreRejectsCalls(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"))
	require.NoError(t, r.store.Close())
	require.ErrorIs(t, r.store.Append(t.Context(), []memory.Row{row(2, "two", "text")}), memory.ErrClosed)
	_, err := r.store.Search(t.Context(), memory.Query{Text: "text"})
	require.ErrorIs(t, err, memory.ErrClosed)
	require.NoError(t, r.store.Close())
}

func TestAnEndedContextEndsACall(t *testing.T) {
	r := newRig(t)
	r.append(row(1, "one", "text"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	cancel()
	require.ErrorIs(t, r.store.Append(ctx, []memory.Row{row(2, "two", "text")}), context.Canceled)
	_, err := r.store.Search(ctx, memory.Query{Text: "text"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"one"}, list(t, r.store))
}
