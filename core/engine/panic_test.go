package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// brokenTokens is a tokenizer whose next calls panic, and whose preparation panics if broken is set.
type brokenTokens struct {
	panics int
	broken bool
}

func (b *brokenTokens) Known(string) bool { return true }

func (b *brokenTokens) Prepare(string) {
	if b.broken {
		panic("the tokenizer has no tables")
	}
}

func (b *brokenTokens) Count(_, text string) int {
	if b.panics > 0 {
		b.panics--
		panic("the tokenizer is broken")
	}
	return len(text)
}

// TestPanicReloadsThread panics in the step of a thread. The request is rejected, the turn fails, and
// the thread is reloaded, or unloaded if that panics again. Other threads continue.
func TestPanicReloadsThread(t *testing.T) {
	for name, panics := range map[string]int{"once": 1, "repeatedly": 1000} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				tokens := &brokenTokens{}
				r.tokens = tokens
				r.restart()
				id, other := r.begin(1), r.begin(2)
				r.turn(2, other, "hang")
				r.turn(1, id, "say hello")
				r.turn(1, id, "hang")

				tokens.panics = panics
				require.Equal(t, protocol.KindInternal, r.rejected(1, getUsage(id)))
				require.Equal(t, []string{"completed", "failed"}, r.ends(1))
				if panics > 1 {
					require.Len(t, r.clients.notices(1, "thread/closed"), 1)
					require.Equal(t, protocol.KindInternal, r.rejected(1, getUsage(id)),
						"the thread is unloaded, and its rollout cannot be counted")
					tokens.panics = 0
					r.ask(1, resume(id))
				}
				require.NotZero(t, r.logged("recovered from a panic"))

				r.turn(1, id, "say again")
				require.Equal(t, []string{"completed", "failed", "completed"}, r.ends(1))
				require.Empty(t, r.ends(2))
				require.Len(t, r.ask(1, read(id)).Get("thread.turns").Array(), 3)
			})
		})
	}
}

// brokenFolder is a worktree whose calls panic.
type brokenFolder struct{ *folder }

func (brokenFolder) Track(context.Context, string, core.Track, []string, func()) *core.Tracked {
	panic("files cannot be compared")
}

func (brokenFolder) Forget(context.Context, string, core.DeleteCheckpoints) {
	panic("refs cannot be deleted")
}

// TestPanicBesideThreadsIsLogged panics in work that no step of a thread waits for: the preparation of a tokenizer,
// the watch of the files of a background command, and the deletion of old checkpoints. Turns and commands continue.
func TestPanicBesideThreadsIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.tokens = &brokenTokens{broken: true}
		f := r.workInFolder()
		r.setup.tracking.Keep = 1
		r.with(func(p *engine.Parts) {
			p.Worktrees = &engine.Worktrees{Captures: brokenFolder{f}, FileDiffs: f, Checkpoints: brokenFolder{f}}
		})
		id := r.begin(1)
		r.turn(1, id, "stay hang")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Len(t, r.ask(1, listTerminals(id)).Get("data").Array(), 1)
		require.Len(t, r.clients.notices(1, "warning"), 1, "changes of files are not known")
		f.edit(map[string]string{"a": "text"})
		r.turn(1, id, "say hello")
		synctest.Wait()
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		require.Equal(t, 3, r.logged("recovered from a panic"))
	})
}

// brokenRewrites are threads whose rewrites panic.
type brokenRewrites struct{ store.Threads }

func (b brokenRewrites) Begin(id string, at time.Time, seed *rollout.Seed) (store.Journal, error) {
	journal, err := b.Threads.Begin(id, at, seed)
	return brokenRewrite{journal}, err
}

type brokenRewrite struct{ store.Journal }

func (brokenRewrite) CloseRewritten(rollout.Projection) error { panic("the rewrite is broken") }

// TestPanicOfARewriteUnloadsThread panics when a thread is unloaded whose rollout is rewritten. The rollout keeps its
// lines.
func TestPanicOfARewriteUnloadsThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.tokens = &brokenTokens{} // permits panics
		r.setup.unload = lonelyFor
		r.with(func(p *engine.Parts) { p.Threads = brokenRewrites{p.Threads} })
		id, other := r.begin(1), r.begin(2)
		r.turn(2, other, "hang")
		r.turn(1, id, "say hello")
		r.ask(1, exclude(id, r.idOf(id, "say hello")))
		before, _ := r.files(id)
		r.ask(1, unsubscribe(id))
		time.Sleep(2 * lonelyFor)
		require.Equal(t, []string{other}, r.loaded())
		after, _ := r.files(id)
		require.Equal(t, before, after)
		require.Equal(t, 1, r.logged("recovered from a panic"))
		r.ask(1, resume(id))
		require.Empty(t, r.ends(2))
	})
}
