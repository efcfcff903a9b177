package fleettest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/rollout/fleet"
	"appserver/rollout/listing"
	"appserver/test/sample"
)

// model holds all threads and answers queries by looking at each of them.
type model struct {
	*rig
	node    fleet.Node
	threads []*stored
}

type stored struct {
	own      fleet.Own
	head     fleet.Head
	messages []string
}

// listsAndSearchesEqualTheModel changes threads at random, and compares all pages of random queries.
// The cases share the database; each uses threads of its own.
func listsAndSearchesEqualTheModel(t *testing.T, r *rig) {
	sample.Check(t, func(t *rapid.T) {
		m := &model{rig: r, node: r.a}
		defer m.clear()
		t.Repeat(map[string]func(*rapid.T){
			"create": m.create, "change": m.change, "rename": m.rename, "move": m.move, "say": m.say, "delete": m.delete,
			"": func(t *rapid.T) {
				m.checkList(t)
				m.checkSearch(t)
			},
		})
	})
}

func (m *model) clear() {
	for _, s := range m.threads {
		require.NoError(m.rig.t, m.Delete(m.rig.ctx, s.own))
	}
}

func (m *model) any(t *rapid.T) *stored {
	if len(m.threads) == 0 {
		t.Skip("no threads")
	}
	return rapid.SampledFrom(m.threads).Draw(t, "thread")
}

func textOf(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{"Fix the Bug", "write docs", "done: bug bug", "ÄRGER über 漢字テスト", "50% of_it", ""}).
		Draw(t, label)
}

// anyID returns the id of a thread, or of none.
func (m *model) anyID(t *rapid.T) string {
	ids := []string{idOf(1 << 40)}
	for _, s := range m.threads {
		ids = append(ids, s.own.ID)
	}
	return rapid.SampledFrom(ids).Draw(t, "id")
}

func (m *model) anyHead(t *rapid.T) fleet.Head {
	source := rapid.SampledFrom([]string{`"cli"`, `{"subagent":"review"}`, "5", "", "spawned"}).Draw(t, "source")
	if source == "spawned" {
		source = fmt.Sprintf(`{"subagent":{"thread_spawn":{"parent_thread_id":%q}}}`, m.anyID(t))
	}
	seconds := rapid.IntRange(0, 3)
	h := fleet.Head{Listed: rapid.IntRange(0, 5).Draw(t, "listed") > 0, Name: textOf(t, "name")}
	h.Preview = textOf(t, "preview")
	h.CreatedAt = begin.Add(time.Duration(seconds.Draw(t, "created")) * time.Second)
	h.UpdatedAt = begin.Add(time.Duration(seconds.Draw(t, "updated")) * time.Second)
	h.Meta = protocol.SessionMeta{Source: []byte(source)}
	h.Meta.ModelProvider = rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "provider")
	h.Meta.Cwd = rapid.SampledFrom([]string{"/x", "/y"}).Draw(t, "cwd")
	if source == "" {
		h.Meta.Source = nil
	}
	return h
}

func (m *model) create(t *rapid.T) {
	if len(m.threads) == 12 {
		t.Skip("enough threads")
	}
	h := m.anyHead(t)
	h.Archived = rapid.IntRange(0, 4).Draw(t, "archived") == 0
	own, err := m.Create(context.Background(), m.newID(), m.node, fleet.ContentOf(h))
	require.NoError(t, err)
	h.ID = own.ID
	m.threads = append(m.threads, &stored{own: own, head: h})
}

func (m *model) change(t *rapid.T) {
	s, h := m.any(t), m.anyHead(t)
	require.NoError(t, m.Append(context.Background(), s.own, 0, nil, &h))
	h.ID, h.CreatedAt, h.Name, h.Archived = s.head.ID, s.head.CreatedAt, s.head.Name, s.head.Archived
	s.head = h
}

func (m *model) rename(t *rapid.T) {
	s := m.any(t)
	s.head.Name = textOf(t, "name")
	require.NoError(t, m.Rename(context.Background(), s.own.ID, s.head.Name))
}

func (m *model) move(t *rapid.T) {
	s := m.any(t)
	s.head.Archived = rapid.Bool().Draw(t, "archived")
	require.NoError(t, m.Move(context.Background(), s.own, s.head.Archived))
}

func (m *model) say(t *rapid.T) {
	s := m.any(t)
	text := textOf(t, "message")
	at := int64(len(s.messages))
	require.NoError(t, m.AddMessages(context.Background(), s.own, 0, at+1, []fleet.Message{message(at, text)}))
	s.messages = append(s.messages, text)
}

func (m *model) delete(t *rapid.T) {
	s := m.any(t)
	require.NoError(t, m.Delete(context.Background(), s.own))
	m.threads = slices.DeleteFunc(m.threads, func(other *stored) bool { return other == s })
}

func (m *model) query(t *rapid.T, keys ...listing.SortKey) listing.Query {
	some := func(name string, values ...string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(values), 0, 2).Draw(t, name)
	}
	sometimes := func(name string, value string) string {
		if rapid.IntRange(0, 3).Draw(t, name) == 0 {
			return value
		}
		return ""
	}
	return listing.Query{
		Limit: rapid.IntRange(0, 3).Draw(t, "limit"), Archived: rapid.IntRange(0, 3).Draw(t, "archived") == 0,
		Ascending: rapid.Bool().Draw(t, "ascending"), SortKey: rapid.SampledFrom(keys).Draw(t, "key"),
		Unlisted:  rapid.IntRange(0, 5).Draw(t, "unlisted") == 0,
		Providers: some("providers", "a", "b", ""), Cwds: some("cwds", "/x", "/y"),
		Sources:      some("sources", "cli", "subagent", "subagent/review", "", "5"),
		OtherSources: some("other sources", "cli", "subagent", "subagent/thread_spawn"),
		Excluded:     []string{m.anyID(t)},
		Parent:       sometimes("parent", m.anyID(t)), Ancestor: sometimes("ancestor", m.anyID(t)),
	}
}

// checkList reads all pages of a random list, and turns back on the last page.
func (m *model) checkList(t *rapid.T) {
	q := m.query(t, "", listing.SortCreated, listing.SortUpdated)
	q.Search = rapid.SampledFrom([]string{"", "", "bug", "DOCS", "ärger", "字", "0% O"}).Draw(t, "search")
	m.checkPages(t, q, func(s *stored) (int64, bool) { return 0, q.Search == "" || s.isNamed(q.Search) },
		func(q listing.Query) ([]string, string, string) {
			page, err := m.List(context.Background(), q)
			require.NoError(t, err)
			shown := []string{}
			for _, h := range page.Heads {
				shown = append(shown, show(h))
			}
			return shown, page.NextCursor, page.BackCursor
		})
}

func (m *model) checkSearch(t *rapid.T) {
	q := m.query(t, "", listing.SortUpdated, fleet.SortRelevance)
	q.Search = rapid.SampledFrom([]string{"bug", "Fix THE", "e docs", "über 漢字", "字", "ne: b", "_"}).Draw(t, "term")
	m.checkPages(t, q, func(s *stored) (int64, bool) {
		rank := s.rank(q.Search)
		return rank, rank > 0
	}, func(q listing.Query) ([]string, string, string) {
		hits, err := m.Search(context.Background(), q)
		require.NoError(t, err)
		shown := []string{}
		for _, h := range hits.Hits {
			shown = append(shown, show(h.Head))
			require.Equal(t, listing.Snippet(m.matching(h.ID, q.Search), strings.ToLower(q.Search)), h.Snippet)
		}
		return shown, hits.NextCursor, hits.BackCursor
	})
}

func contains(text, term string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(term))
}

func (s *stored) isNamed(term string) bool {
	return contains(s.head.Preview, term) || contains(s.head.Name, term)
}

func (s *stored) rank(term string) (rank int64) {
	if s.isNamed(term) {
		rank = fleet.NamedRank
	}
	for _, text := range s.messages {
		if contains(text, term) {
			rank++
		}
	}
	return rank
}

// matching returns the text of a thread from which its snippet is made.
func (m *model) matching(id, term string) string {
	i := slices.IndexFunc(m.threads, func(s *stored) bool { return s.own.ID == id })
	s := m.threads[i]
	for _, text := range append([]string{s.head.Preview}, s.messages...) {
		if contains(text, term) {
			return text
		}
	}
	return s.head.Preview
}

// checkPages compares the pages of a query. matches returns the rank of a thread, and whether its
// texts match.
func (m *model) checkPages(t *rapid.T, q listing.Query, matches func(*stored) (int64, bool),
	read func(listing.Query) (shown []string, next, back string)) {
	want := m.selected(q, matches)
	got, back, last := []string{}, "", []string{}
	for range len(want) + 2 {
		shown, next, backCursor := read(q)
		got, back, last = append(got, shown...), backCursor, shown
		if q.Cursor = next; next == "" {
			break
		}
	}
	require.Equal(t, want, got, "%+v", q)
	if back == "" {
		require.Empty(t, want)
		return
	}
	q.Cursor, q.Ascending, q.Limit = back, !q.Ascending, 0
	shown, _, _ := read(q)
	before := slices.Clone(want[:len(want)-len(last)+1])
	slices.Reverse(before)
	require.Equal(t, before, shown, "%+v", q)
}

// selected returns the heads that a query selects, in order, as text.
func (m *model) selected(q listing.Query, matches func(*stored) (int64, bool)) []string {
	type row struct {
		listing.Position
		text string
	}
	var rows []row
	for _, s := range m.threads {
		if rank, ok := matches(s); ok && m.selects(q, s.head) {
			rows = append(rows, row{s.head.Position(q.Key(), rank), show(s.head)})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Updated, b.Updated), strings.Compare(a.Path, b.Path))
	})
	if !q.Ascending {
		slices.Reverse(rows)
	}
	all := []string{}
	for _, r := range rows {
		all = append(all, r.text)
	}
	return all
}

func (m *model) selects(q listing.Query, h fleet.Head) bool {
	among := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	source := listing.SourceWord(h.Meta.Source)
	word, _, _ := strings.Cut(source, "/")
	isOneOf := func(list []string) bool { return slices.Contains(list, source) || slices.Contains(list, word) }
	return (h.Listed || q.Unlisted) && h.Archived == q.Archived &&
		among(q.Providers, h.Meta.ModelProvider) && among(q.Cwds, h.Meta.Cwd) &&
		(len(q.Sources) == 0 || isOneOf(q.Sources)) && !isOneOf(q.OtherSources) &&
		!slices.Contains(q.Excluded, h.ID) &&
		(q.Parent == "" || listing.SpawnedBy(h.Meta.Source) == q.Parent) &&
		(q.Ancestor == "" || m.descends(h.ID, q.Ancestor))
}

// descends reports whether ancestor is among the ancestors of a thread. A cycle ends the search.
func (m *model) descends(id, ancestor string) bool {
	parents := map[string]string{}
	for _, s := range m.threads {
		parents[s.own.ID] = listing.SpawnedBy(s.head.Meta.Source)
	}
	for at, steps := parents[id], 0; at != "" && steps <= len(parents) && id != ancestor; steps++ {
		if at == ancestor {
			return true
		}
		at = parents[at]
	}
	return false
}

func searchesSortByRelevance(t *testing.T, r *rig) {
	often, named, once := r.create(), r.create(), r.create()
	require.NoError(t, r.AddMessages(r.ctx, often, 0, 3,
		[]fleet.Message{message(0, "needle"), message(1, "Needle"), message(2, "needles")}))
	require.NoError(t, r.AddMessages(r.ctx, once, 0, 1, []fleet.Message{message(0, "needle")}))
	require.NoError(t, r.Rename(r.ctx, named.ID, "the Needle"))
	q := listing.Query{Search: "needle", SortKey: fleet.SortRelevance, Limit: 1}
	var ids []string
	for {
		hits, err := r.Search(r.ctx, q)
		require.NoError(t, err)
		ids = append(ids, hits.Hits[0].ID)
		if q.Cursor = hits.NextCursor; q.Cursor == "" {
			break
		}
	}
	require.Equal(t, []string{named.ID, often.ID, once.ID}, ids)
}
