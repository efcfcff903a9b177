package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// brokenTokens is a tokenizer whose next calls panic.
type brokenTokens struct{ panics int }

func (b *brokenTokens) Known(string) bool { return true }
func (b *brokenTokens) Prepare(string)    {}

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
