package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/engine"
	"appserver/protocol"
)

// notebook is a memory that stores plain text.
type notebook struct {
	mu     sync.Mutex
	notes  []string
	titles []string
	asked  []string
	closed chan struct{} // what is kept waits for it, nil for nothing
}

func (n *notebook) Key(dir string) string { return "key of " + dir }

func (n *notebook) Remember(ctx context.Context, thread string, e core.Remember,
	redact func(string) string) core.Remembered {
	if n.closed != nil {
		select {
		case <-n.closed:
		case <-ctx.Done():
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, span := range e.Spans {
		n.titles = append(n.titles, span.Title())
		for _, item := range span.Items {
			text := ""
			switch item := item.ResponseItemVariant.(type) {
			case *protocol.Message:
				text = item.Content[0].Text
			case *protocol.FunctionCallOutput:
				text = item.Output.Text
			}
			n.notes = append(n.notes, redact(text))
		}
	}
	return core.Remembered{Repo: n.Key(e.Cwd), Stored: len(e.Spans)}
}

func (n *notebook) Recall(_ context.Context, e core.Recall) core.Recalled {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, e.Query)
	found := core.Recalled{Repo: n.Key(e.Cwd)}
	for _, text := range n.notes {
		found.Found = append(found.Found, core.Memory{Text: text})
	}
	return found
}

func (n *notebook) Search(_ context.Context, q engine.MemoryQuery) (protocol.MemorySearchResponse, error) {
	return protocol.MemorySearchResponse{Data: []protocol.MemoryHit{{MemoryView: protocol.MemoryView{RepoKey: q.Repo,
		Title: q.Text, ItemIDs: []string{}}, Score: float64(q.Limit)}}}, nil
}

func (n *notebook) List(_ context.Context, p *protocol.MemoryListParams) (protocol.MemoryListResponse, error) {
	if p.Cursor != nil {
		return protocol.MemoryListResponse{}, errors.New("no such page")
	}
	return protocol.MemoryListResponse{Data: []protocol.MemoryView{{RepoKey: *p.RepoKey, ItemIDs: []string{}}}}, nil
}

func (n *notebook) Forget(_ context.Context, ids []string, all bool, repo string) (int, error) {
	n.asked = append(n.asked, strings.Join(ids, "+")+"|"+repo)
	return len(ids), nil
}

func (n *notebook) Pause(repo string, paused bool) bool { return paused && repo == "key of /x" }

func (n *notebook) Reset(context.Context) error { return nil }

func (n *notebook) Status(context.Context) (protocol.MemoryStatusResponse, error) {
	return protocol.MemoryStatusResponse{Summaries: len(n.notes)}, nil
}

func (n *notebook) kept() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.notes...)
}

func (r *rig) remembering(rules core.MemoryRules) {
	r.memory, r.setup.memory = &notebook{}, rules
	require.NoError(r.t, r.close(time.Minute))
	r.restart()
}

// TestWhatLeavesAContextIsRemembered also of a stored thread, which is gone again before.
func TestWhatLeavesAContextIsRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.remembering(core.MemoryRules{Summarize: true})
		r.setup.hide = "hunter2"
		id := r.begin(1)
		r.turn(1, id, "say the password is hunter2, keep it")
		r.ask(1, exclude(id, r.idOf(id, "the password is hunter2, keep it")))
		synctest.Wait()
		require.Len(t, r.memory.kept(), 1)
		require.NotContains(t, r.memory.kept()[0], "hunter2")
		require.Len(t, r.clients.notices(1, "memory/updated"), 1)

		r.memory.closed = make(chan struct{})
		r.turn(1, id, "say something else that is long enough")
		item := r.idOf(id, "something else that is long enough")
		r.leave()
		r.ask(1, exclude(id, item))
		require.Empty(t, r.loaded())
		close(r.memory.closed)
		synctest.Wait()
		require.Len(t, r.memory.kept(), 2)
	})
}

// TestNoPartOfASecretIsRemembered: a title is cut, and so may be what a summary takes.
func TestNoPartOfASecretIsRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.remembering(core.MemoryRules{Summarize: true})
		r.setup.hide = "hunter2-and-forty-words-more"
		id := r.begin(1)
		said := strings.Repeat("a ", 35) + r.setup.hide
		r.turn(1, id, "say "+said)
		r.ask(1, prune(id, protocol.CategoryUserMessage, protocol.CategoryAssistantMessage))
		synctest.Wait()
		require.NotEmpty(t, r.memory.titles)
		for _, text := range append(r.memory.titles, r.memory.kept()...) {
			require.NotContains(t, text, "hunter2")
		}
	})
}

// TestLongOutputsAreCutWithoutTheirSecrets has a secret at the place of the cut.
func TestLongOutputsAreCutWithoutTheirSecrets(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.remembering(core.MemoryRules{Summarize: true})
		r.setup.hide = "hunter2-and-forty-words-more"
		id := r.begin(1)
		for i, size := range []int{8<<10 - 7, 32<<10 - 7} {
			output := strings.Repeat("x", size) + r.setup.hide + strings.Repeat("y", 100<<10)
			r.ask(1, inject(id, fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"shell","arguments":"{}"}`, i),
				fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%q}`, i, output)))
		}
		r.ask(1, prune(id, protocol.CategoryToolOutput))
		synctest.Wait()
		require.Len(t, r.memory.kept(), 2)
		for _, text := range r.memory.kept() {
			require.NotContains(t, text, "hunter2")
			require.Less(t, len(text), 17<<10)
		}
	})
}

// TestShowingThePromptForgetsNothing: what leaves the context behind it is remembered.
func TestShowingThePromptForgetsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.remembering(core.MemoryRules{Summarize: true})
		id := r.begin(1)
		r.turn(1, id, "say that the metrics are on port 9137")
		r.ask(1, getPrompt(id))
		r.ask(1, exclude(id, r.idOf(id, "that the metrics are on port 9137")))
		synctest.Wait()
		require.Len(t, r.memory.kept(), 1)
	})
}

// TestCloseWaitsForMemoryWrites keeps what left a context just before the end.
func TestCloseWaitsForMemoryWrites(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.remembering(core.MemoryRules{Summarize: true})
		r.memory.closed = make(chan struct{})
		id := r.begin(1)
		r.turn(1, id, "say that the metrics are on port 9137")
		r.ask(1, exclude(id, r.idOf(id, "that the metrics are on port 9137")))
		require.Empty(t, r.memory.kept())
		require.NoError(t, r.close(time.Minute))
		require.Len(t, r.memory.kept(), 1)
	})
}

// TestATurnBeginsWithItsMemories in another thread.
func TestATurnBeginsWithItsMemories(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.remembering(core.MemoryRules{Items: 3, Chars: 500})
		r.memory.notes = []string{"The metrics are on port 9137."}
		id := r.begin(1)
		r.turn(1, id, "say which port?")
		synctest.Wait()
		require.Equal(t, []string{"say which port?"}, r.memory.asked)
		require.Contains(t, r.ask(1, getPrompt(id)).Raw, "key of /nowhere | ts=")
		r.ask(1, call{"thread/memoryMode/set", id, func(e *engine.Engine, to protocol.Caller) error {
			return e.ThreadMemoryModeSet(to, &protocol.ThreadMemoryModeSetParams{ThreadID: id, Mode: protocol.MemoryDisabled})
		}})
		r.turn(1, id, "say which port again?")
		synctest.Wait()
		require.Len(t, r.memory.asked, 1)
		r.requireKept(id)
	})
}

func TestMemoryRequests(t *testing.T) {
	about := func(do func(e *engine.Engine, to protocol.Caller) error) call { return call{"memory", "", do} }
	search := func(p protocol.MemorySearchParams) call {
		return about(func(e *engine.Engine, to protocol.Caller) error { return e.MemorySearch(to, &p) })
	}
	list := func(p protocol.MemoryListParams) call {
		return about(func(e *engine.Engine, to protocol.Caller) error { return e.MemoryList(to, &p) })
	}
	forget := func(p protocol.MemoryForgetParams) call {
		return about(func(e *engine.Engine, to protocol.Caller) error { return e.MemoryForget(to, &p) })
	}
	status := about(func(e *engine.Engine, to protocol.Caller) error {
		return e.MemoryStatus(to, &protocol.MemoryStatusParams{})
	})
	bubble(t, func(t *testing.T, r *rig) {
		require.Equal(t, protocol.KindMemoryUnavailable, r.rejected(1, status))
		r.remembering(core.MemoryRules{Items: 3})
		r.memory.notes = []string{"one"}
		require.JSONEq(t, `{"summarizes":false,"reminds":true,"summaries":1,"code":0,"repositories":0,"bytes":0,"embeddings":null,"indexes":null,"error":null,"v2ConsolidatedThreads":0,"v2Ready":true}`,
			r.ask(1, status).Raw)
		hit := r.ask(1, search(protocol.MemorySearchParams{Query: "q", RepoKey: new("/x"),
			Limit: new(uint32(1000))})).Get("data.0")
		require.Equal(t, []string{"key of /x", "q", "100"},
			[]string{hit.Get("repoKey").Str, hit.Get("title").Str, hit.Get("score").Raw})
		require.Equal(t, float64(10),
			r.ask(1, search(protocol.MemorySearchParams{Query: "q", Kinds: []string{"code"}})).Get("data.0.score").Num)
		for _, p := range []protocol.MemorySearchParams{{Query: " "}, {Query: "q", Kinds: []string{"files"}},
			{Query: "q", RepoKey: new("x")}} {
			require.Equal(t, protocol.KindInvalidParams, r.rejected(1, search(p)))
		}
		require.Equal(t, "key of /x", r.ask(1, list(protocol.MemoryListParams{RepoKey: new("/x")})).Get("data.0.repoKey").Str)
		require.Equal(t, protocol.KindInvalidParams, r.rejected(1, list(protocol.MemoryListParams{RepoKey: new("x")})))
		require.Equal(t, int64(2),
			r.ask(1, forget(protocol.MemoryForgetParams{Ids: []string{"a", "b"}, RepoKey: new("/x")})).Get("forgotten").Int())
		require.Equal(t, []string{"a+b|key of /x"}, r.memory.asked)
		for _, p := range []protocol.MemoryForgetParams{{}, {Ids: []string{"a"}, All: true}, {All: true, RepoKey: new("x")}} {
			require.Equal(t, protocol.KindInvalidParams, r.rejected(1, forget(p)))
		}
		pause := func(p protocol.MemoryIndexPauseParams) call {
			return about(func(e *engine.Engine, to protocol.Caller) error { return e.MemoryIndexPause(to, &p) })
		}
		require.True(t, r.ask(1,
			pause(protocol.MemoryIndexPauseParams{RepoKey: new("/x"), Paused: true})).Get("found").Bool())
		require.False(t, r.ask(1,
			pause(protocol.MemoryIndexPauseParams{RepoKey: new("/y"), Paused: true})).Get("found").Bool())
		require.Equal(t, protocol.KindInvalidParams, r.rejected(1, pause(protocol.MemoryIndexPauseParams{RepoKey: new("x")})))
		r.ask(1, about(func(e *engine.Engine, to protocol.Caller) error {
			return e.MemoryReset(to, &protocol.MemoryResetParams{})
		}))
	})
}
