package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/listing"
	"appserver/rollout/zst"
	"appserver/test/sample"
)

func (r *rig) context() context.Context { return context.Background() }

// TestTheIndexListsWhatTheFilesList changes rollouts at random, as programs do. It compares each list
// with the list made from the files, and each search with their content.
func TestTheIndexListsWhatTheFilesList(t *testing.T) {
	sample.NoRace(t)
	t.Parallel()
	sample.Check(t, func(t *rapid.T) {
		home, err := os.MkdirTemp("", "index")
		require.NoError(t, err)
		defer func() { _ = os.RemoveAll(home) }()
		w := &world{rig: rigAt(t, home), t: t, clock: begin}
		defer func() { require.NoError(t, w.ix.Close(context.Background())) }()
		t.Repeat(map[string]func(*rapid.T){
			"make": w.make, "revert": w.revert, "spawn": w.spawn, "grow": w.grow, "name": w.name, "remove": w.remove,
			"shrink": w.shrink, "replace": w.replace, "compress": w.compress,
			"move": w.move, "restart": func(*rapid.T) { w.reopen() }, "": w.check,
		})
		require.Empty(t, w.faults)
	})
}

// world is a home that random things happen to.
type world struct {
	*rig
	t     *rapid.T
	files []string
	made  int
	clock time.Time
}

// tick gives a file a time that no file had.
func (w *world) tick(path string) {
	w.clock = w.clock.Add(time.Second)
	require.NoError(w.t, os.Chtimes(path, w.clock, w.clock))
}

func (w *world) pick(t *rapid.T) string {
	if len(w.files) == 0 {
		t.Skip("no files")
	}
	path := rapid.SampledFrom(w.files).Draw(t, "file")
	_, err := w.disk().Expand(path)
	require.NoError(t, err)
	return path
}

func (w *world) disk() *zst.FS { return zst.New(disk.OS(), filepath.Join(w.home, "appserver-cache")) }

// compress compresses a file that becomes smaller.
func (w *world) compress(t *rapid.T) {
	path := w.pick(t)
	if _, err := w.disk().Compress(path); !errors.Is(err, zst.ErrNotSmaller) {
		require.NoError(t, err)
	}
}

func lines(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		`{"timestamp":"","type":"thread_metadata","payload":{"git":{"branch":"told"}}}` + "\n",
		`{"timestamp":"","type":"thread_metadata","payload":{}}` + "\n",
		userLine("Fix the Bug"), userLine("write docs"), agentLine("done: bug"), userLine("ÄRGER über 漢字テスト"),
		`{"timestamp":"2026-03-04T05:06:07Z","type":"event_msg","payload":{"type":"thread_settings_applied","thread_settings":{"model":"late","model_provider_id":"b","cwd":"/y","collaboration_mode":{"mode":"default","settings":{}}}}}` + "\n",
		`{"timestamp":"2026-03-04T05:06:08Z","type":"turn_context","payload":{"model":"later","cwd":"/x"}}` + "\n",
		`{"timestamp":"no time","type":"turn_context","payload":{"model":5}}` + "\n",
		"no JSON\n", "\x00\x00" + userLine("Fix the Bug"), `{"timestamp":"2026-03-04T05:0` + userLine("write docs"),
		strings.TrimSpace(agentLine("done: bug")) + userLine("zwei"), `{"timestamp":"","type":"turn_context","payload":{"model":"m","effort":"high"}}` + "\n",
		`{"timestamp":"","type":"event_msg","payl`, "\n",
	}).Draw(t, "lines")
}

func content(t *rapid.T) string {
	first := rapid.SampledFrom([]string{
		`"id":"x","timestamp":"2026-01-02T03:04:05Z","model_provider":"a","cwd":"/x","source":"cli","base_instructions":{"text":"long"}`,
		`"model_provider":"b","cwd":"/y","source":{"subagent":"review"},"git":{"branch":"main"}`, `"cwd":"/x"`, `"source":5`,
		"",
	}).Draw(t, "meta")
	text := ""
	if first != "" {
		text = metaLine(first)
	}
	for range rapid.IntRange(0, 3).Draw(t, "lines") {
		text += lines(t)
	}
	return text
}

// number counts a thread more. Of more files than are looked at before each list, what
// other programs write to the rest is not seen at once.
func (w *world) number(t *rapid.T) {
	if w.made == maxRecent/2 { // a thread has one file or two
		t.Skip("enough threads")
	}
	w.made++
}

func (w *world) make(t *rapid.T) {
	w.number(t)
	path := w.path(w.made)
	if rapid.Bool().Draw(t, "archived") {
		path = filepath.Join(w.home, "archived_sessions", filepath.Base(path))
	}
	w.put(path, content(t))
	w.tick(path)
	w.files = append(w.files, path)
}

// revert makes a thread of two files, of which the first does not change.
func (w *world) revert(t *rapid.T) {
	w.number(t)
	path := w.path(w.made)
	base := numbered(0, metaLine(`"id":"x"`)+userLine("Fix the Bug")+agentLine("done: bug"))
	w.put(path, base+numbered(5, userLine("write docs")))
	w.tick(path)
	end := rapid.SampledFrom([]int{1, 5}).Draw(t, "end")
	if end == 1 {
		base = numbered(0, metaLine(`"id":"x"`))
	}
	file := fmt.Sprintf("0190a6f8-2222-7aaa-8bbb-%012d", w.made)
	path = strings.TrimSuffix(path, ".jsonl") + "_" + file + ".jsonl"
	w.put(path, metaLine(fmt.Sprintf(`"id":"x","history_base":{"thread_id":%q,"end_ordinal_exclusive":%d,"end_byte_offset":%d}`, idOf(w.made), end, len(base)))+lines(t))
	w.tick(path)
	w.files = append(w.files, path)
}

// numbered returns lines with ordinals.
func numbered(from int, text string) (with string) {
	for line := range strings.Lines(text) {
		with += strings.Replace(line, "{", fmt.Sprintf(`{"ordinal":%d,`, from), 1)
		from++
	}
	return with
}

// spawn makes a thread that the agent of another has begun.
func (w *world) spawn(t *rapid.T) {
	w.number(t)
	path := w.path(w.made)
	by := idOf(rapid.IntRange(1, w.made).Draw(t, "by"))
	w.put(path, metaLine(fmt.Sprintf(`"id":"x","source":{"subagent":{"thread_spawn":{"parent_thread_id":%q}}}`, by))+
		lines(t))
	w.tick(path)
	w.files = append(w.files, path)
}

func (w *world) grow(t *rapid.T) {
	path := w.pick(t)
	w.add(path, lines(t))
	w.tick(path)
}

func (w *world) name(t *rapid.T) {
	if w.made == 0 {
		t.Skip("no threads")
	}
	id := idOf(rapid.IntRange(1, w.made).Draw(t, "thread"))
	require.NoError(t, w.store.AppendName(id, rapid.SampledFrom([]string{"A bug", "docs", ""}).Draw(t, "name"), begin))
}

func (w *world) drop(path string) {
	for i, f := range w.files {
		if f == path {
			w.files = append(w.files[:i:i], w.files[i+1:]...)
			return
		}
	}
}

func (w *world) remove(t *rapid.T) {
	path := w.pick(t)
	require.NoError(t, os.Remove(path))
	w.drop(path)
}

func (w *world) shrink(t *rapid.T) {
	path := w.pick(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	// The index lists a thread whose file has lost everything, the files do not.
	require.NoError(t, os.Truncate(path, rapid.Int64Range(min(1, info.Size()), info.Size()).Draw(t, "size")))
	w.tick(path)
}

func (w *world) replace(t *rapid.T) {
	path := w.pick(t)
	w.put(path+".tmp", cmp.Or(content(t), "\n")) // not empty, as in shrink
	w.tick(path + ".tmp")
	require.NoError(t, os.Rename(path+".tmp", path))
}

func (w *world) move(t *rapid.T) {
	path := w.pick(t)
	to := filepath.Join(w.home, "archived_sessions", filepath.Base(path))
	if filepath.Dir(path) == filepath.Dir(to) {
		to = filepath.Join(w.home, "sessions", "2026", filepath.Base(path))
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.Rename(path, to))
	w.drop(path)
	w.files = append(w.files, to)
}

// check pages through a random list, and turns back on the last page.
func (w *world) check(t *rapid.T) {
	q := w.query(t)
	var last rollout.Page
	for range 2 * (w.made + 1) {
		last = w.compare(t, q)
		if q.Cursor = last.NextCursor; q.Cursor == "" {
			break
		}
	}
	if q.Cursor = last.BackCursor; q.Cursor != "" {
		q.Ascending = !q.Ascending
		back := w.compare(t, q)
		require.Equal(t, last.Heads[0].Path, back.Heads[0].Path, "turning back begins with the same thread")
	}
	w.compareSearch(t)
	for n := range w.made {
		known, err := w.ix.CheckDelete(idOf(n + 1))
		require.True(t, known)
		if _, found := w.store.Find(idOf(n + 1)); found == nil {
			require.Equal(t, w.store.CheckDelete(idOf(n+1)) == nil, err == nil)
		}
	}
}

// compareSearch compares what a search finds with what reading everything finds.
func (w *world) compareSearch(t *rapid.T) {
	q := w.query(t)
	q.Limit, q.Providers, q.Cwds = 0, nil, nil
	q.Search = ""
	all, err := w.store.List(q)
	require.NoError(t, err)
	q.Search = rapid.SampledFrom([]string{"bug", "Fix THE", "e docs", "über 漢字", "字", "one: b"}).Draw(t, "term")
	want := []string{}
	for _, h := range all.Heads {
		if w.contains(t, h, strings.ToLower(q.Search)) {
			want = append(want, h.Path)
		}
	}
	got := []string{}
	for _, h := range w.search(q).Hits {
		got = append(got, h.Path)
	}
	require.Equal(t, want, got, "%+v", q)
}

// contains reports whether the thread has the term.
func (w *world) contains(t *rapid.T, h rollout.Head, term string) bool {
	names, err := w.store.Names()
	require.NoError(t, err)
	all := []string{h.Preview, names[h.ID]}
	c, err := w.store.Read(h.Path)
	require.NoError(t, err)
	for _, l := range c.Lines {
		m, _ := listing.MessageOf(l)
		all = append(all, m.Text)
	}
	return slices.ContainsFunc(all, func(text string) bool { return strings.Contains(strings.ToLower(text), term) })
}

func (w *world) compare(t *rapid.T, q rollout.Query) rollout.Page {
	want, err := w.store.List(q)
	require.NoError(t, err)
	got := w.list(q)
	require.Equal(t, shown(want.Heads), shown(got.Heads), "%+v", q)
	require.Equal(t, want.NextCursor, got.NextCursor)
	require.Equal(t, want.BackCursor, got.BackCursor)
	return got
}

func (w *world) query(t *rapid.T) rollout.Query {
	some := func(name string, values ...string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(values), 0, 2).Draw(t, name)
	}
	return rollout.Query{
		Limit: rapid.IntRange(0, 3).Draw(t, "limit"), Archived: rapid.Bool().Draw(t, "archived"),
		Ascending: rapid.Bool().Draw(t, "ascending"),
		SortKey:   rapid.SampledFrom([]rollout.SortKey{"", rollout.SortCreated, rollout.SortUpdated}).Draw(t, "key"),
		Providers: some("providers", "a", "b", ""), Cwds: some("cwds", "/x", "/y"),
		Sources:      some("sources", "cli", "subagent", "subagent/review", "", "5"),
		Search:       rapid.SampledFrom([]string{"", "", "bug", "DOCS", "ärger", "字"}).Draw(t, "search"),
		Excluded:     some("excluded", idOf(1), idOf(2)),
		OtherSources: some("other sources", "cli", "subagent", "subagent/thread_spawn"),
		Parent:       rapid.SampledFrom([]string{"", "", "", idOf(1), idOf(2)}).Draw(t, "parent"),
		Ancestor:     rapid.SampledFrom([]string{"", "", "", idOf(1), idOf(2)}).Draw(t, "ancestor"),
	}
}

// shown returns heads as a list shows them.
func shown(heads []rollout.Head) []string {
	list := []string{}
	for _, h := range heads {
		h.Meta.BaseInstructions, h.Meta.DeveloperInstructions = nil, nil
		meta, err := protocol.Marshal(h.Meta)
		model := "none"
		if h.Context != nil {
			model = fmt.Sprintf("%s %q", h.Context.Model, effortOf(h.Context.Effort))
		}
		list = append(list, fmt.Sprintf("%s %s %q %d %d %s %s %v", h.ID, h.Path, h.Preview, h.CreatedAt.UnixNano(),
			h.UpdatedAt.UnixNano(), meta, model, err))
	}
	return list
}

func effortOf(effort *string) string {
	if effort == nil {
		return "none"
	}
	return *effort
}
