package fleettest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

func aRewriteReplacesLines(t *testing.T, r *rig) {
	var lines, want []string
	for n := range 300 {
		line := fmt.Sprintf("line %d", n)
		if n%3 == 0 {
			line += " secret"
		}
		lines = append(lines, line)
		want = append(want, strings.ReplaceAll(line, "secret", "***"))
	}
	own := r.create(lines...)
	redact := func(_ int64, raw []byte) []byte {
		if !strings.Contains(string(raw), "secret") {
			return nil
		}
		return []byte(strings.ReplaceAll(string(raw), "secret", "***"))
	}
	h := headOf("***")
	later, err := r.Rewrite(r.ctx, own, &h, redact)
	require.NoError(t, err)
	require.Equal(t, want, r.lines(own.ID))
	require.Equal(t, own.Next, later.Next)
	require.Equal(t, own.Generation+1, later.Generation)
	require.ErrorIs(t, r.append(own, 300, "late"), fleet.ErrFenced)
	require.NoError(t, r.append(later, 300, "late"))
	place, err := r.Find(r.ctx, own.ID)
	require.NoError(t, err)
	require.Equal(t, "***", place.Preview)
	require.Equal(t, later.Generation, place.Generation)
	taken, err := r.Take(r.ctx, own.ID, r.a)
	require.NoError(t, err)
	require.Equal(t, later.Generation, taken.Generation)
}

func aDeletedThreadIsGone(t *testing.T, r *rig) {
	own := r.create("one")
	require.NoError(t, r.AddMessages(r.ctx, own, 0, 1, []fleet.Message{message(0, "needle")}))
	require.NoError(t, r.Delete(r.ctx, own))
	_, err := r.Find(r.ctx, own.ID)
	require.ErrorIs(t, err, fleet.ErrNotFound)
	require.ErrorIs(t, r.append(own, 1, "two"), fleet.ErrNotFound)
	require.Empty(t, r.search("needle"))
	require.Empty(t, r.search("hello"))
	created, err := r.Create(r.ctx, own.ID, r.a, fleet.ContentOf(headOf("new")))
	require.NoError(t, err)
	require.Empty(t, r.lines(created.ID))
}

// sizesAreKept compares the size of a thread, and of all threads, with its lines.
func sizesAreKept(t *testing.T, r *rig) {
	size := func(own fleet.Own) int64 {
		place, err := r.Find(r.ctx, own.ID)
		require.NoError(t, err)
		return place.Bytes
	}
	before, err := r.Usage(r.ctx)
	require.NoError(t, err)
	own, archived := r.create("12345", "123"), r.create("1")
	require.EqualValues(t, 8, size(own))
	require.NoError(t, r.append(own, 2, "12", ""))
	require.EqualValues(t, 10, size(own))
	own, err = r.Rewrite(r.ctx, own, nil, func(ordinal int64, _ []byte) []byte {
		return map[int64][]byte{0: []byte("1")}[ordinal]
	})
	require.NoError(t, err)
	require.EqualValues(t, 6, size(own))
	require.NoError(t, r.Move(r.ctx, archived, true))
	after, err := r.Usage(r.ctx)
	require.NoError(t, err)
	require.Equal(t, fleet.Usage{Threads: before.Threads + 2, Bytes: before.Bytes + 7,
		ArchivedBytes: before.ArchivedBytes + 1}, after)
}

func message(ordinal int64, text string) fleet.Message {
	return fleet.Message{Ordinal: ordinal, Message: listing.Message{Role: "user", Kind: "message", Text: text}}
}

// search returns the ids of the threads that contain a term, in order.
func (r *rig) search(term string) (ids []string) {
	r.t.Helper()
	hits, err := r.Search(r.ctx, listing.Query{Search: term})
	require.NoError(r.t, err)
	for _, h := range hits.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func headsAreKept(t *testing.T, r *rig) {
	effort, branch, text := "high", "main", "secret instructions"
	h := fleet.Head{Name: "a name", Listed: true, Head: listing.Head{
		Preview: "hello", Origin: "origin", CreatedAt: begin, UpdatedAt: begin.Add(time.Second + 1),
		Context: &protocol.TurnContext{Model: "m", Effort: &effort},
		Meta: protocol.SessionMeta{ID: "x", Cwd: "/w", ModelProvider: "p", Source: []byte(`{"subagent":"review"}`),
			Git: &protocol.StoredGitInfo{Branch: &branch}, BaseInstructions: &protocol.Instructions{Text: text}},
	}}
	own, err := r.Create(r.ctx, r.newID(), r.a, fleet.ContentOf(h))
	require.NoError(t, err)
	want := h
	want.ID, want.Meta.BaseInstructions = own.ID, nil
	require.Equal(t, show(want), show(r.find(own.ID)))

	h.Preview, h.Name, h.CreatedAt, h.UpdatedAt = "changed", "not used", begin.Add(time.Hour), begin.Add(time.Minute)
	h.Context, h.Archived, h.Running = nil, true, true
	require.NoError(t, r.Append(r.ctx, own, 0, raw("one"), &h))
	want.Preview, want.UpdatedAt, want.Context, want.Running = "changed", h.UpdatedAt, nil, true
	require.Equal(t, show(want), show(r.find(own.ID)))

	require.NoError(t, r.Rename(r.ctx, own.ID, "Another"))
	want.Name = "Another"
	require.Equal(t, show(want), show(r.find(own.ID)))
	require.Equal(t, []string{own.ID}, r.search("anOTHER"))
	require.Empty(t, r.search("a name"))
	require.Empty(t, r.search("hello"))
	require.Equal(t, []string{own.ID}, r.search("changed"))
}

func (r *rig) find(id string) fleet.Head {
	r.t.Helper()
	place, err := r.Find(r.ctx, id)
	require.NoError(r.t, err)
	return place.Head
}

// show returns a head as text, with times as numbers.
func show(h fleet.Head) string {
	model := "none"
	if h.Context != nil {
		model = h.Context.Model
		if h.Context.Effort != nil {
			model += " " + *h.Context.Effort
		}
	}
	meta, err := protocol.Marshal(h.Meta)
	return fmt.Sprintf("%s %q %q %q %d %d %t %t %t %s %s %v", h.ID, h.Preview, h.Name, h.Origin,
		fleet.Nanoseconds(h.CreatedAt), fleet.Nanoseconds(h.UpdatedAt), h.Listed, h.Running, h.Archived, model, meta, err)
}

func movedThreadsAreListedApart(t *testing.T, r *rig) {
	own := r.create("one")
	count := func(archived bool) int {
		page, err := r.List(r.ctx, listing.Query{Archived: archived})
		require.NoError(t, err)
		return len(page.Heads)
	}
	require.Equal(t, []int{1, 0}, []int{count(false), count(true)})
	for range 2 {
		require.NoError(t, r.Move(r.ctx, own, true))
		require.Equal(t, []int{0, 1}, []int{count(false), count(true)})
	}
	require.NoError(t, r.append(own, 1, "two"), "an archived thread keeps its owner")
	require.NoError(t, r.Move(r.ctx, own, false))
	require.Equal(t, []int{1, 0}, []int{count(false), count(true)})
}

func messagesAreAddedOnce(t *testing.T, r *rig) {
	own := r.create("one", "two", "three")
	indexed := func() int64 {
		upTo, err := r.Indexed(r.ctx, own.ID)
		require.NoError(t, err)
		return upTo
	}
	require.Equal(t, int64(0), indexed())
	for range 2 {
		require.NoError(t, r.AddMessages(r.ctx, own, 0, 2, []fleet.Message{message(0, "a needle"), message(1, "straw")}))
		require.Equal(t, int64(2), indexed())
	}
	require.NoError(t, r.AddMessages(r.ctx, own, 0, 3,
		[]fleet.Message{message(0, "changed"), message(2, "another needle")}))
	require.NoError(t, r.AddMessages(r.ctx, own, 0, 1, nil))
	require.Equal(t, int64(3), indexed())
	require.Equal(t, []string{own.ID}, r.search("NEEDLE"))
	require.Empty(t, r.search("changed"))
}

// lostMessagesAreNoticed adds messages as if earlier ones had been lost in a crash.
func lostMessagesAreNoticed(t *testing.T, r *rig) {
	own := r.create("one", "two", "three")
	require.NoError(t, r.AddMessages(r.ctx, own, 0, 1, []fleet.Message{message(0, "a needle")}))
	var order *fleet.OrderError
	require.ErrorAs(t, r.AddMessages(r.ctx, own, 2, 3, []fleet.Message{message(2, "straw")}), &order)
	require.Equal(t, int64(1), order.Next)
	require.Empty(t, r.search("straw"))
	upTo, err := r.Indexed(r.ctx, own.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1), upTo)
	require.NoError(t, r.AddMessages(r.ctx, own, 1, 3, []fleet.Message{message(2, "straw")}))
	require.Len(t, r.search("straw"), 1)
}

func aRewriteRemovesMessages(t *testing.T, r *rig) {
	own := r.create("one")
	require.NoError(t, r.AddMessages(r.ctx, own, 0, 1, []fleet.Message{message(0, "a secret")}))
	require.Len(t, r.search("secret"), 1)
	later, err := r.Rewrite(r.ctx, own, nil, func(int64, []byte) []byte { return nil })
	require.NoError(t, err)
	require.Empty(t, r.search("secret"))
	upTo, err := r.Indexed(r.ctx, own.ID)
	require.NoError(t, err)
	require.Equal(t, int64(0), upTo)
	err = r.AddMessages(r.ctx, own, 0, 1, []fleet.Message{message(0, "a secret")})
	require.ErrorIs(t, err, fleet.ErrFenced, "an earlier call adds it again")
	require.Empty(t, r.search("secret"))
	require.NoError(t, r.AddMessages(r.ctx, later, 0, 1, []fleet.Message{message(0, "a ***")}))
	require.Len(t, r.search("a ***"), 1)
}

func textsOfAnyKindAreKept(t *testing.T, r *rig) {
	own := r.create("one")
	h := headOf("nul\x00 and \xff invalid")
	h.Meta.Cwd, h.Meta.ModelProvider = "/nul\x00", "\xff"
	require.NoError(t, r.Append(r.ctx, own, 1, raw("two"), &h))
	require.NoError(t, r.Rename(r.ctx, own.ID, "100%_\\ \x00"))
	require.NoError(t, r.AddMessages(r.ctx, own, 0, 1, []fleet.Message{message(0, "ÄRGER \x00 50%_\\ 漢字テスト \xff")}))
	for _, term := range []string{"ärger", "0%_\\", "漢字", "字", "ger \x00", "100%"} {
		require.Equal(t, []string{own.ID}, r.search(term), term)
	}
	for _, term := range []string{"0__", "%x", "50%%"} {
		require.Empty(t, r.search(term), term)
	}
	page, err := r.List(r.ctx, listing.Query{Cwds: []string{"/nul\x00"}, Providers: []string{"\xff"}, Search: "0%_",
		Excluded: []string{"no id"}, OtherSources: []string{"\x00"}})
	require.NoError(t, err)
	require.Len(t, page.Heads, 1)
}

func invalidCursorsAreErrors(t *testing.T, r *rig) {
	for _, q := range []listing.Query{
		{Cursor: "x"},
		{Cursor: listing.Position{Key: listing.SortCreated, Path: "no id"}.Cursor()},
		{Cursor: listing.Position{Key: listing.SortUpdated, Path: idOf(1)}.Cursor()},
	} {
		var invalid *listing.CursorError
		_, err := r.List(r.ctx, q)
		require.ErrorAs(t, err, &invalid)
		_, err = r.Search(r.ctx, q)
		require.ErrorAs(t, err, &invalid)
	}
}
