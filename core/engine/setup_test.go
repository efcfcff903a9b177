package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
)

func turnWith(p protocol.TurnStartParams) call {
	return call{"turn/start", p.ThreadID, func(e *engine.Engine, to protocol.Caller) error { return e.TurnStart(to, &p) }}
}

func TestASetupThatFailsRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		gone := protocol.Refuse(protocol.KindProviderNotFound, "no such provider")
		r.setup.onWorld(func(string) error { return gone })
		require.Equal(t, protocol.KindProviderNotFound, r.rejected(1, start()))
		require.Equal(t, protocol.KindProviderNotFound, r.rejected(1, turn(id, "say x")))
		require.Equal(t, []string{id}, r.loaded(), "the thread that could not be made is gone")
		r.ask(1, resume(id))
		r.setup.onWorld(nil)
		r.turn(1, id, "say x")
		require.Equal(t, []string{"completed"}, r.ends(1))
	})
}

// TestAnErrorWithoutAKind checks that an unknown error is an internal error, and not an error of a
// file.
func TestAnErrorWithoutAKind(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.setup.onWorld(func(string) error { return errors.New("something else") })
		for _, c := range []call{start(), turn(id, "say x")} {
			m := r.answer(r.post(1, c))
			require.NotNil(t, m.err)
			require.Equal(t, "something else", m.err.Message)
			require.Equal(t, protocol.KindInternal, m.err.Data.Kind, c.method)
			require.Equal(t, protocol.CodeInternalError, m.err.Code)
		}
	})
}

func TestAProviderThatIsNotReady(t *testing.T) {
	for _, kind := range []protocol.Kind{protocol.KindProviderNotReady, protocol.KindProviderNotFound} {
		bubble(t, func(t *testing.T, r *rig) {
			id := r.begin(1)
			r.setup.ready = protocol.Refuse(kind, "set OPENAI_API_KEY")
			m := r.answer(r.post(1, turn(id, "say x")))
			require.NotNil(t, m.err)
			require.Equal(t, "set OPENAI_API_KEY", m.err.Message)
			require.Equal(t, kind, m.err.Data.Kind)
			require.Equal(t, "idle", r.ask(1, read(id)).Get("thread.status.type").Str)
			require.Empty(t, r.agent.asked())
		})
	}
}

// TestTurnsRunInTheirSelectedFolder checks that a working directory is looked at when the
// turn starts, and sticks.
func TestTurnsRunInTheirSelectedFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		in := func(cwd string) call {
			return turnWith(protocol.TurnStartParams{ThreadID: id, Input: said("run touch a"), Cwd: &cwd})
		}
		require.Equal(t, protocol.KindCwdNotFound, r.rejected(1, in(filepath.Join(dir, "none"))))
		r.ask(1, in(dir))
		r.turn(1, id, "run touch a")
		r.ask(1, in("sub"))
		require.Equal(t, []string{"completed", "completed", "completed"}, r.ends(1))
		for i, want := range []string{dir, dir, filepath.Join(dir, "sub")} {
			require.Equal(t, want, r.agent.commands[i].Cwd)
		}
		r.requireKept(id)
	})
}

func TestImages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	const pixel = "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"
	require.NoError(t, os.WriteFile(path, []byte(pixel), 0o600))
	image := func(path string) []protocol.UserInput {
		return append(said("hang"), protocol.UserInput{UserInputVariant: &protocol.LocalImageInput{Path: path}})
	}
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		started := r.ask(1, turnWith(protocol.TurnStartParams{ThreadID: id, Input: image(path)})).Get("turn.id").Str
		shown := func() string {
			prompts := r.agent.asked()
			m := prompts[len(prompts)-1].Items[len(prompts[len(prompts)-1].Items)-1].ResponseItemVariant.(*protocol.Message)
			return m.Content[1].ImageURL
		}
		require.Contains(t, shown(), "data:image/gif;base64,")
		steered := func(path string) call {
			p := &protocol.TurnSteerParams{ThreadID: id, ExpectedTurnID: started, Input: image(path)}
			return call{"turn/steer", id, func(e *engine.Engine, to protocol.Caller) error { return e.TurnSteer(to, p) }}
		}
		r.ask(1, steered(path))
		require.Len(t, r.agent.asked(), 2)
		require.Contains(t, shown(), "data:image/gif;base64,")
		r.ask(1, steered("/nowhere"))
		prompts := r.agent.asked()
		items := prompts[len(prompts)-1].Items
		said := items[len(items)-1].ResponseItemVariant.(*protocol.Message).Content
		require.Equal(t, "The image `/nowhere` cannot be shown: no such file or directory", said[1].Text)
	})
}

func TestFailedRequestsAreRetriedLater(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "flaky")
		require.True(t, r.clients.notices(1, "error")[0].body.Get("willRetry").Bool())
		require.Len(t, r.agent.asked(), 1, "not at once")
		time.Sleep(200 * time.Millisecond)
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Len(t, r.agent.asked(), 2)
		r.turn(1, id, "flaky")
		r.ask(1, interrupt(id, ""))
		require.Equal(t, []string{"completed", "interrupted"}, r.ends(1), "while it waits to try again")
		time.Sleep(time.Second)
		require.Len(t, r.agent.asked(), 3)
		r.requireKept(id)
	})
}

// TestNewRolloutBeginsWithItsMeta checks what a new thread's file begins with.
func TestNewRolloutBeginsWithItsMeta(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		got := r.ask(1, startWith(protocol.ThreadStartParams{Model: new("model-2"), ThreadSource: new("user")}))
		require.Equal(t, "model-2", got.Get("model").Str)
		require.Equal(t, "vscode", got.Get("thread.source").Str)
		contents, err := rollout.NewStore(r.mem, home).Read(got.Get("thread.path").Str)
		require.NoError(t, err)
		meta := gjson.ParseBytes(contents.Lines[0].Payload)
		for path, want := range map[string]string{
			"id": got.Get("thread.id").Str, "originator": "test", "cli_version": "0.0.0", "cwd": "/nowhere", "source": "vscode",
			"thread_source": "user", "model_provider": "mock", "history_mode": protocol.HistoryPaginated,
			"base_instructions.text": core.BaseInstructions, "timestamp": "2000-01-01T00:00:00.000Z",
		} {
			require.Equal(t, want, meta.Get(path).Str, path)
		}
	})
}

// Current returns the values of the test, which can change.
func (s *setup) Current() *engine.Scope {
	scope := &engine.Scope{
		Persist: s.persist, RewriteOnUnload: !s.grows, UnloadDelay: s.unload, Tracking: s.tracking, Memory: s.memory,
		Prices: s, CacheFacts: func(string, string) core.CacheFacts { return core.CacheFacts{Ratio: 0.1} },
		Servers: func(string) []mcp.Definition { return nil }, Turns: s, Join: s.join,
	}
	if s.unload == 0 {
		scope.UnloadDelay = -1 // threads stay loaded
	}
	if s.hide != "" {
		scope.Redactor = hiding(s.hide)
	}
	return scope
}

func (s *setup) CachedPriceRatio(string, string) float64 { return 0.1 }

func (s *setup) OutputPriceRatio(string, string) *float64 { return nil }
