package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
)

// fakeIndex lists the threads that the test selects.
type fakeIndex struct {
	mu    sync.Mutex
	ready bool
	heads []rollout.Head
	asked []rollout.Query
	noted []string
	// inUse is a thread on which every other depends.
	inUse string
}

// Ready reports that every rollout is in the index.
func (f *fakeIndex) Ready() bool { return true }

// Sweep does nothing.
func (f *fakeIndex) Sweep() {}

func (f *fakeIndex) List(q rollout.Query) (rollout.Page, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	return rollout.Page{Heads: f.heads}, f.ready
}

func (f *fakeIndex) Search(_ context.Context, q rollout.Query) (rollout.Hits, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	hits := rollout.Hits{Complete: f.ready}
	for _, h := range f.heads {
		hits.Hits = append(hits.Hits, rollout.Hit{Head: h, Snippet: "... found"})
	}
	return hits, nil
}

func (f *fakeIndex) CheckDelete(id string) (known bool, err error) {
	if f.inUse != "" {
		err = &rollout.InUseError{ID: id, By: f.inUse}
	}
	return f.ready, err
}

func (f *fakeIndex) Skipped() []error { return nil }

func (f *fakeIndex) Note(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, path)
}

func (f *fakeIndex) Diagnose() protocol.IndexDiagnostics {
	return protocol.IndexDiagnostics{State: protocol.IndexReady}
}

func search(p protocol.ThreadSearchParams) call {
	return call{"thread/search", "", func(e *engine.Engine, to protocol.Caller) error { return e.ThreadSearch(to, &p) }}
}

func TestTheIndexIsAskedBeforeTheFiles(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		f := &fakeIndex{}
		r.with(func(p *engine.Parts) { p.Threads = r.threads(f) })
		id := r.stored("say hello")
		path := r.ask(1, read(id)).Get("thread.path").Str
		require.Contains(t, f.noted, path, "what was written is noted")
		require.Equal(t, id, r.ask(1, list(protocol.ThreadListParams{})).Get("data.0.id").Str,
			"the files answer while the index does not")
		f.ready, f.heads = true, []rollout.Head{{ID: "of the index", Preview: "p"}}
		require.Equal(t, "of the index", r.ask(1, list(protocol.ThreadListParams{})).Get("data.0.id").Str)
		got := r.ask(1, search(protocol.ThreadSearchParams{SearchTerm: "hel", Limit: new(uint32(3))}))
		require.Equal(t, "of the index", got.Get("data.0.thread.id").Str)
		require.Equal(t, "... found", got.Get("data.0.snippet").Str)
		require.True(t, got.Get("complete").Bool())
		require.Equal(t, rollout.Query{Search: "hel", Limit: 3, SortKey: rollout.SortRelevance,
			OtherSources: f.asked[0].OtherSources}, f.asked[2])
		require.Contains(t, f.asked[0].OtherSources, "exec", "these are not connected")
		r.ask(1, list(protocol.ThreadListParams{SourceKinds: &[]string{"exec"}}))
		require.Equal(t, []string{"exec"}, f.asked[3].Sources)
		require.Empty(t, f.asked[3].OtherSources)
	})
}

func TestSearchingWithoutAnIndexIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		m := r.answer(r.post(1, search(protocol.ThreadSearchParams{SearchTerm: "x"})))
		require.NotNil(t, m.err)
		require.Equal(t, protocol.KindIndexUnavailable, m.err.Data.Kind)
	})
}

func TestProgressIsSentToTheRequester(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.with(func(p *engine.Parts) { p.Threads = r.threads(&fakeIndex{}) })
		r.ask(2, list(protocol.ThreadListParams{}))
		r.IndexProgress(3, 9)
		notices := r.clients.notices(2, "thread/index/progress")
		require.Len(t, notices, 1)
		require.JSONEq(t, `{"done":3,"total":9}`, notices[0].body.Raw)
		require.Empty(t, r.clients.notices(1, "thread/index/progress"))
	})
}

func TestFiltersThatAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for field, p := range map[string]protocol.ThreadListParams{
			"originators":       {Originators: []string{"x"}},
			"excludedThreadIds": {ExcludedThreadIDs: make([]string, 101)},
		} {
			m := r.answer(r.post(1, list(p)))
			require.NotNil(t, m.err, field)
			require.Equal(t, field, m.err.Data.Field)
		}
		id := r.stored("say hello")
		require.Empty(t, r.ask(1, list(protocol.ThreadListParams{ExcludedThreadIDs: []string{id}})).Get("data").Array())
		require.Empty(t, r.ask(1, list(protocol.ThreadListParams{SectionID: new("s")})).Get("data").Array())
	})
}

func TestDiagnoseCountsThreads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		threads, index := r.Diagnose()
		require.Equal(t, protocol.ThreadDiagnostics{}, threads)
		require.Equal(t, protocol.IndexOff, index.State)
		r.with(func(p *engine.Parts) { p.Threads = r.threads(&fakeIndex{}) })
		r.begin(1)
		id := r.begin(1)
		r.turn(1, id, "hang")
		threads, index = r.Diagnose()
		require.Equal(t, protocol.ThreadDiagnostics{Loaded: 2, InTurns: 1}, threads)
		require.Equal(t, protocol.IndexReady, index.State)
	})
}

// TestADeletionAsksTheIndex has an index with forks that no rollout names, and an incomplete index.
func TestADeletionAsksTheIndex(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		f := &fakeIndex{ready: true, inUse: "another"}
		r.with(func(p *engine.Parts) { p.Threads = r.threads(f) })
		id := r.begin(1)
		require.Equal(t, protocol.KindThreadInUse, r.rejected(1, deleteThread(id)))
		f.ready = false
		r.ask(1, deleteThread(id))
	})
}
