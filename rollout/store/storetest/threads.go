package storetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

func (s *suite) archive() {
	var lines rollout.LineList
	var archived *store.ArchivedError
	var not *rollout.NotArchivedError
	s.put(1, "hello")
	_, err := s.Unarchive(refOf(1))
	require.ErrorAs(s.t, err, &not)
	require.NoError(s.t, s.Check(refOf(1), store.OpArchive))
	require.NoError(s.t, s.Archive(refOf(1)))
	place, err := s.another().Where(refOf(1))
	require.NoError(s.t, err)
	require.True(s.t, place.Archived)
	_, _, err = s.Threads.Open(refOf(1), &lines)
	require.ErrorAs(s.t, err, &archived)
	s.same(linesOf(1, "hello"), s.read(1))
	require.Empty(s.t, s.list(rollout.Query{}))
	require.Equal(s.t, "hello", s.list(rollout.Query{Archived: true}))
	place, err = s.Unarchive(refOf(1))
	require.NoError(s.t, err)
	require.False(s.t, place.Archived)
	journal, found := s.openThread(1)
	s.same(linesOf(1, "hello"), found)
	require.NoError(s.t, journal.Close())
	require.Equal(s.t, "hello", s.list(rollout.Query{}))
}

func (s *suite) deleted() {
	var missing *rollout.NotFoundError
	s.put(1, "one")
	s.put(2, "two")
	require.NoError(s.t, s.Archive(refOf(2)))
	for n := 1; n <= 2; n++ {
		require.NoError(s.t, s.Check(refOf(n), store.OpDelete))
		require.NoError(s.t, s.Delete(idOf(n)))
		_, err := s.another().Where(refOf(n))
		require.ErrorAs(s.t, err, &missing)
	}
	require.Empty(s.t, s.list(rollout.Query{}))
	s.put(1, "again")
	s.same(linesOf(1, "again"), s.read(1))
}

func (s *suite) missing() {
	var lines rollout.LineList
	for what, do := range map[string]func() error{
		"where":   func() error { _, err := s.Where(refOf(1)); return err },
		"load":    func() error { _, _, err := s.Load(refOf(1), &lines); return err },
		"open":    func() error { _, _, err := s.Threads.Open(refOf(1), &lines); return err },
		"archive": func() error { return s.Archive(refOf(1)) },
		"delete":  func() error { return s.Delete(idOf(1)) },
	} {
		var missing *rollout.NotFoundError
		require.ErrorAs(s.t, do(), &missing, what)
		require.Equal(s.t, idOf(1), missing.ID, what)
	}
	require.NoError(s.t, s.Tidy())
	require.NotEmpty(s.t, s.Diagnose().State)
}

func (s *suite) imported() {
	lines := linesOf(1, "hello", "you")
	id, err := store.Import(s, lines)
	require.NoError(s.t, err)
	require.Equal(s.t, idOf(1), id)
	s.same(lines, s.read(1))
	var exists *rollout.ExistsError
	_, err = store.Import(s, lines)
	require.ErrorAs(s.t, err, &exists)
	require.NoError(s.t, s.Archive(refOf(1)))
	_, err = store.Import(s, lines)
	require.ErrorAs(s.t, err, &exists, "an archived thread exists as well")
	wrong := linesOf(2)
	wrong[0].Payload = []byte(`{"id":"../x"}`)
	for reason, lines := range map[string][]protocol.RolloutLine{
		"not session_meta": nil, "the first line is not session_meta": linesOf(2, "hello")[1:], "is not a UUID": wrong,
	} {
		_, err = store.Import(s, lines)
		require.ErrorContains(s.t, err, reason)
	}
}

func (s *suite) names() {
	s.put(1, "hello")
	name, _, err := s.Name(idOf(1))
	require.NoError(s.t, err)
	require.Empty(s.t, name)
	at := start.Add(time.Hour)
	require.NoError(s.t, s.Rename(idOf(1), "the first", start))
	require.NoError(s.t, s.Rename(idOf(1), "the Second", at))
	name, named, err := s.another().Name(idOf(1))
	require.NoError(s.t, err)
	require.Equal(s.t, "the Second", name)
	if !named.IsZero() {
		require.WithinDuration(s.t, at, named, time.Second)
	}
	page, err := s.List(rollout.Query{})
	require.NoError(s.t, err)
	require.Equal(s.t, "the Second", page.Heads[0].Name)
	require.Equal(s.t, "hello", s.list(rollout.Query{Search: "second"}))
}

// list returns the previews of a page.
func (s *suite) list(q rollout.Query) string {
	page, err := s.List(q)
	require.NoError(s.t, err)
	require.Empty(s.t, page.Skipped)
	var previews []string
	for _, h := range page.Heads {
		previews = append(previews, h.Preview)
	}
	return strings.Join(previews, " ")
}

func (s *suite) pages() {
	for n := range 7 {
		s.put(n, fmt.Sprint("t", n))
	}
	for _, key := range []rollout.SortKey{rollout.SortCreated, rollout.SortUpdated} {
		q := rollout.Query{Limit: 3, SortKey: key}
		var pages []string
		for {
			page, err := s.List(q)
			require.NoError(s.t, err)
			var previews []string
			for _, h := range page.Heads {
				previews = append(previews, h.Preview)
			}
			pages = append(pages, strings.Join(previews, " "))
			if page.NextCursor == "" {
				back, err := s.List(rollout.Query{Limit: 3, SortKey: key, Ascending: true, Cursor: page.BackCursor})
				require.NoError(s.t, err)
				require.Equal(s.t, "t0", back.Heads[0].Preview, "the page in the other direction begins with the same thread")
				require.Equal(s.t, "t1", back.Heads[1].Preview)
				break
			}
			q.Cursor = page.NextCursor
		}
		require.Equal(s.t, []string{"t6 t5 t4", "t3 t2 t1", "t0"}, pages, key)
		require.Equal(s.t, "t0 t1 t2", s.list(rollout.Query{Limit: 3, SortKey: key, Ascending: true}))
	}
	var cursor *rollout.CursorError
	_, err := s.List(rollout.Query{Cursor: "no cursor"})
	require.ErrorAs(s.t, err, &cursor)
}

// unlisted stores a thread that has the first line only.
func (s *suite) unlisted() {
	s.put(1)
	s.put(2, "hello")
	require.Equal(s.t, "hello", s.list(rollout.Query{}))
	var ids []string
	for q := (rollout.Query{Unlisted: true, Ascending: true, Limit: 1}); len(ids) < 3; {
		page, err := s.List(q)
		require.NoError(s.t, err)
		for _, h := range page.Heads {
			require.WithinDuration(s.t, timeOf(len(ids)+1), h.CreatedAt, time.Second)
			ids = append(ids, h.ID)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	require.Equal(s.t, []string{idOf(1), idOf(2)}, ids)
}

func (s *suite) filters() {
	for n := range 4 {
		s.put(n, fmt.Sprint("t", n))
	}
	require.Equal(s.t, "t3 t1", s.list(rollout.Query{Providers: []string{"p1"}}))
	require.Equal(s.t, "t2", s.list(rollout.Query{Cwds: []string{"/src/2/"}}))
	require.Equal(s.t, "t3 t2 t0", s.list(rollout.Query{Excluded: []string{idOf(1)}}))
	require.Equal(s.t, "t3 t2 t1 t0", s.list(rollout.Query{Sources: []string{"cli"}}))
	require.Empty(s.t, s.list(rollout.Query{Sources: []string{"exec"}}))
	require.Empty(s.t, s.list(rollout.Query{OtherSources: []string{"cli"}}))
	require.Equal(s.t, "t1", s.list(rollout.Query{Search: "T1"}))
	require.Empty(s.t, s.list(rollout.Query{Search: "%"}))
}

func (s *suite) search() {
	s.put(1, "hello", "the slug loses its umlauts")
	s.put(2, "another", "nothing of that kind")
	ctx := context.Background()
	query := rollout.Query{Search: "UMLAUT", SortKey: rollout.SortRelevance}
	var found rollout.Hits
	for found = s.searched(ctx, query); !found.Complete; found = s.searched(ctx, query) {
	}
	require.Len(s.t, found.Hits, 1)
	require.Equal(s.t, idOf(1), found.Hits[0].ID)
	require.Contains(s.t, found.Hits[0].Snippet, "umlauts")
	query.Search = "no such text"
	require.Empty(s.t, s.searched(ctx, query).Hits)
}

func (s *suite) searched(ctx context.Context, q rollout.Query) rollout.Hits {
	found, err := s.Search(ctx, q)
	require.NoError(s.t, err)
	return found
}

func (s *suite) retain() {
	s.put(1, "one")
	s.put(2, "two")
	s.put(3) // without a message
	later := time.Now().Add(72 * time.Hour)
	require.Zero(s.t, s.retire(rollout.Retention{MaxAge: 50 * 365 * 24 * time.Hour}, later))
	r := rollout.Retention{MaxAge: 48 * time.Hour}
	require.Equal(s.t, 3, s.retire(r, later))
	require.Equal(s.t, "two one", s.list(rollout.Query{Archived: true}))
	r.Delete = true
	require.Equal(s.t, 3, s.retire(r, later))
	require.Empty(s.t, s.list(rollout.Query{Archived: true, Unlisted: true}))
}

// copyAgain copies an archived thread with a name to another place, where it is then renamed, unarchived and
// continued.
func (s *suite) copyAgain() {
	s.put(1, "hello")
	require.NoError(s.t, s.Rename(idOf(1), "a name", start))
	head := rollout.Head{ID: idOf(1), CreatedAt: timeOf(1), Name: "a name"}
	place := s.t.TempDir()
	there := &suite{t: s.t, open: s.open, place: place, Threads: s.open(s.t, place)}
	copyTo := func(archived bool) store.Copied {
		done, err := store.Copy(s.Threads, there.Threads, head, archived)
		require.NoError(s.t, err)
		return done
	}
	n := len(linesOf(1, "hello"))
	require.Equal(s.t, store.Copied{Lines: n, New: n}, copyTo(true))
	name, _, err := there.Name(idOf(1))
	require.NoError(s.t, err)
	require.Equal(s.t, "a name", name)
	_, err = there.Unarchive(refOf(1))
	require.NoError(s.t, err)
	require.NoError(s.t, there.Rename(idOf(1), "another name", start.Add(time.Hour)))
	journal, _ := there.openThread(1)
	require.NoError(s.t, journal.Append(more(n, "more"), true))
	require.NoError(s.t, journal.Close())
	require.Equal(s.t, store.Copied{Lines: n}, copyTo(true))
	found, err := there.Where(refOf(1))
	require.NoError(s.t, err)
	require.False(s.t, found.Archived)
	name, _, err = there.Name(idOf(1))
	require.NoError(s.t, err)
	require.Equal(s.t, "another name", name)
}

// retire returns the number of threads that exceed the limits at a time.
func (s *suite) retire(r rollout.Retention, at time.Time) int {
	done := s.Retain(context.Background(), r, at, func(c rollout.Candidate) error { return s.Retire(r, c) })
	return len(done.Gone)
}
