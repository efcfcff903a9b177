package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/faultfs"
)

// TestCloseEndsAndSavesEachTurn checks that, when Close returns, the end of every turn is durable and sent, and every
// thread is unlocked. A turn that waits for an answer stays in progress.
func TestCloseEndsAndSavesEachTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		var ids []string
		for _, words := range []string{"hang", "linger", "run touch a", "say hello"} {
			id := r.begin(1)
			r.turn(1, id, words)
			ids = append(ids, id)
		}
		r.setup.policy = protocol.ApprovalNever
		id := r.begin(1)
		r.turn(1, id, "run linger")
		ids = append(ids, id)
		require.NoError(t, r.close(grace))
		require.Equal(t, []string{"completed", "interrupted", "interrupted", "interrupted"}, sorted(r.ends(1)))
		require.Zero(t, r.agent.running.Load(), "what runs has ended")
		require.Empty(t, r.mem.Held())
		require.Empty(t, r.clients.open(1))
		crashed := r.afterCrash()
		for i, id := range ids {
			want := []string{"interrupted", "interrupted", "inProgress", "completed", "interrupted"}[i]
			require.Equal(t, want, crashed.ask(1, read(id)).Get("thread.turns.0.status").Str)
			require.Len(t, factsOf(crashed.mem, id), len(factsOf(r.mem, id)), "all lines are durable")
		}
	})
}

// TestCloseMakesAllLinesDurable checks that Close also syncs lines that were not promised.
func TestCloseMakesAllLinesDurable(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		require.NoError(t, r.close(grace))
		require.True(t, factsOf(worstCrash(r.mem), id)["begun"])
	})
}

func TestCloseTwice(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.turn(1, r.begin(1), "run linger")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := r.close(grace); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.NoError(t, r.close(grace))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
	})
}

// TestCloseGivesUp checks that Close returns at its deadline, and that another Close can wait for the
// rest.
func TestCloseGivesUp(t *testing.T) {
	for name, stop := range map[string]func(r *rig) *gate{
		"a command that ignores its end": func(r *rig) *gate {
			r.turn(1, r.begin(1), "run ignore")
			return newGate()
		},
		"a disk that hangs": func(r *rig) *gate {
			id := r.begin(1)
			r.turn(1, id, "hang")
			return r.disk.hold(r.gate(), faultfs.OpWrite, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				g := stop(r)
				began := time.Now()
				require.ErrorIs(t, r.close(time.Second), context.DeadlineExceeded)
				require.Equal(t, time.Second, time.Since(began))
				g.open()
				require.NoError(t, r.close(grace))
				require.Equal(t, []string{"interrupted"}, r.ends(1))
				require.Empty(t, r.mem.Held())
			})
		})
	}
}

// TestCloseServesAcceptedRequests checks that requests that were taken before Close are
// done, in order, and not refused.
func TestCloseServesAcceptedRequests(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored := r.stored("say hello")
		id := r.begin(1)
		g := r.block(id)
		loading := r.disk.hold(r.gate(), faultfs.OpReadDir, home)
		posted := []protocol.Caller{r.post(1, resume(stored)), r.post(1, setName(stored, "n"))}
		posted = append(posted, r.post(1, setName(id, "m")), r.post(2, read(id)), r.post(1, turn(id, "say more")))
		closed := make(chan error)
		go func() { closed <- r.close(grace) }()
		synctest.Wait()
		g.open()
		loading.open()
		require.NoError(t, <-closed)
		for _, to := range posted {
			require.Nil(t, r.answer(to).err, r.checker.methodOf(to))
		}
		require.True(t, factsOf(r.mem, stored)["name n"])
		require.True(t, factsOf(r.mem, id)["name m"])
	})
}

// TestRequestsAfterCloseAreRejected checks that every request is refused for the reason that is true.
func TestRequestsAfterCloseAreRejected(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		turnID := r.turn(1, id, "hang")
		path := r.ask(1, read(id)).Get("thread.path").Str
		require.NoError(t, r.close(grace))
		for _, c := range []call{
			start(), resume(id), resumeWith(protocol.ThreadResumeParams{Path: &path}), read(id),
			list(protocol.ThreadListParams{}),
			setName(id, "n"), turn(id, "say x"), steer(id, turnID, "x"), interrupt(id, ""), interrupt("", turnID),
		} {
			m := r.answer(r.post(1, c))
			if m.err == nil || m.err.Data.Kind != protocol.KindShuttingDown {
				t.Errorf("%s is answered with %v %s", c.method, m, encode(m.err))
			}
		}
	})
}

// TestRequestsWhileClosingAreRejected checks the same before the last turn has ended.
func TestRequestsWhileClosingAreRejected(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run linger")
		closed := make(chan error)
		go func() { closed <- r.close(grace) }()
		synctest.Wait()
		var posted []protocol.Caller
		for _, c := range []call{start(), resume(id), read(id), setName(id, "n"), turn(id, "say x"), interrupt(id, "")} {
			posted = append(posted, r.post(1, c))
		}
		require.NoError(t, <-closed)
		for _, to := range posted {
			require.Equal(t, protocol.KindShuttingDown, r.rejection(to), r.checker.methodOf(to))
		}
	})
}

// TestWaitingInputAtClose checks that input that waits for a turn's end is refused when
// the server ends first.
func TestWaitingInputAtClose(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run linger")
		r.ask(1, interrupt(id, ""))
		waiting := r.post(1, turn(id, "say more"))
		synctest.Wait()
		require.Empty(t, r.clients.answersTo(waiting))
		require.NoError(t, r.close(grace))
		require.Equal(t, protocol.KindShuttingDown, r.rejection(waiting))
	})
}

// TestRequestsRaceWithClose lets many clients post while Close runs: each request has
// one answer.
func TestRequestsRaceWithClose(t *testing.T) {
	for i := range 10 {
		bubble(t, func(t *testing.T, r *rig) {
			stored := r.stored("say hello")
			ids := []string{r.begin(1), r.begin(2), stored}
			var all sync.WaitGroup
			for conn := range uint64(8) {
				all.Go(func() {
					r.post(conn, start())
					for n := range 30 {
						id := ids[n%3]
						for _, c := range []call{resume(id), turn(id, "say x"), setName(id, fmt.Sprint(n)), read(id), interrupt(id, "")} {
							r.post(conn, c)
						}
						if conn == 0 && n == 2*i {
							go func() { _ = r.close(time.Minute) }()
						}
					}
				})
			}
			all.Wait()
			require.NoError(t, r.close(time.Minute))
		})
	}
}

// TestCloseEndsEffectsOfAThreadLoadedAnew checks that Close leaves nothing running of a
// turn that a full disk has ended.
func TestCloseEndsEffectsOfAThreadLoadedAnew(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run linger")
		broken := r.disk.fail(errFull, writes...)
		r.rejected(1, setName(id, "n"))
		broken.heal()
		require.Equal(t, []string{"failed"}, r.ends(1))
		require.NoError(t, r.close(grace))
		require.Zero(t, r.agent.running.Load(), "the command has ended")
	})
}
