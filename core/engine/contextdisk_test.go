package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/faultfs"
)

// TestAnEditThatCannotBeWritten checks that it is rejected without a notification, that the context is
// unchanged, and that the edit succeeds after the disk is repaired.
func TestAnEditThatCannotBeWritten(t *testing.T) {
	for name, ops := range map[string][]faultfs.Op{"no writes": writes, "no syncs": {faultfs.OpSync}} {
		for _, stored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stored %v", name, stored), func(t *testing.T) {
				bubble(t, func(t *testing.T, r *rig) {
					id := r.stored("run touch a")
					if !stored {
						r.ask(1, resume(id))
						r.ask(2, resume(id))
					}
					ids, before := r.ids(id), r.context(id)
					for range 2 {
						r.refuseEdit(exclude(id, ids[1:]...), ops)
						r.requireContext(before, id)
					}
					require.EqualValues(t, 4, r.ask(1, exclude(id, ids[1:]...)).Get("changed").Int())
					r.requireKept(id)
				})
			})
		}
	}
}

// refuseEdit posts an edit that some operations of the disk keep from being made.
func (r *rig) refuseEdit(c call, ops []faultfs.Op) {
	r.t.Helper()
	r.clients.forget()
	full := r.disk.fail(errFull, ops...)
	m := r.answer(r.post(1, c))
	require.NotNil(r.t, m.err)
	require.Equal(r.t, protocol.KindStorage, m.err.Data.Kind)
	for conn := range uint64(2) {
		require.Empty(r.t, r.clients.notices(conn+1, "ContextItems"))
	}
	full.heal()
}

// TestAnEditThatCannotBeCutOff checks that a rejected edit has no effect if a sync failed and the disk
// could not truncate its line.
func TestAnEditThatCannotBeCutOff(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		before := r.context(id)
		r.refuseEdit(exclude(id, r.ids(id)...), []faultfs.Op{faultfs.OpSync, faultfs.OpTruncate})
		r.requireContext(before, id)
		r.turn(1, id, "say more")
		require.Contains(t, r.agent.last(), "hello")
		r.leave()
		require.NotContains(t, strings.Join(r.outline(id), " "), "excluded")
		r.requireKept(id)
	})
}

// requireContext checks that a thread's context is the one that is wanted.
func (r *rig) requireContext(want, id string) {
	r.t.Helper()
	if got := r.context(id); got != want {
		require.Equal(r.t, outlineOf(itemsOf(want)), outlineOf(itemsOf(got)))
		require.Failf(r.t, "contexts differ", "%s\n%s", want, got)
	}
}

// TestAnEditThatCannotBeWrittenInATurn checks that the turn fails, as with any other
// line, and that nothing of the edit is left.
func TestAnEditThatCannotBeWrittenInATurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(mirror, resume(id))
		r.ask(mirror, getItems(id))
		r.turn(1, id, "say secret")
		r.turn(1, id, "run hang")
		secret := r.idOf(id, "secret")
		full := r.disk.fail(errFull, writes...)
		require.Equal(t, protocol.KindStorage, r.rejected(1, exclude(id, secret)))
		require.Equal(t, []string{"completed", "failed"}, r.ends(1))
		received := r.clients.all(1, func(m message) bool { return m.kind == notification })
		require.Equal(t, "ContextItems", received[len(received)-1].method, "the end of a turn is sent")
		full.heal()
		r.turn(1, id, "say more")
		require.Contains(t, r.agent.last(), "secret")
		r.ask(1, exclude(id, secret))
		r.turn(1, id, "say more")
		require.NotContains(t, r.agent.last(), `"text":"secret"`)
		r.requireKept(id)
	})
}

// TestCloseOnASlowDisk checks that Close returns at its deadline, for each step of a rewrite at which
// the disk hangs, with both files intact. The rewrite continues when the disk does.
func TestCloseOnASlowDisk(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.OpLink, faultfs.OpRename, faultfs.OpSyncDir, faultfs.OpSync, faultfs.OpWrite,
		faultfs.OpOpen, faultfs.OpRemove, faultfs.OpClose} {
		t.Run(string(op), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "say secret")
				r.ask(1, exclude(id, r.idOf(id, "secret")))
				want := r.context(id)
				stuck := r.disk.hold(r.gate(), op, "/sessions/")
				began := time.Now()
				require.ErrorIs(t, r.close(time.Second), context.DeadlineExceeded)
				require.Equal(t, time.Second, time.Since(began))
				require.EqualValues(t, 1, stuck.waiting.Load())
				r.requireAfterCrashes(id, want)
				stuck.open()
				require.NoError(t, r.close(grace))
				require.Empty(t, r.mem.Held())
				require.Empty(t, wrongWith(r.mem, id))
				_, backup := r.files(id)
				require.NotEmpty(t, backup)
			})
		})
	}
}

// TestARewriteThatFails checks that it costs nothing but the rewrite.
func TestARewriteThatFails(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.OpLink, faultfs.OpRename, faultfs.OpSyncDir, faultfs.OpSync, faultfs.OpWrite,
		faultfs.OpOpen, faultfs.OpRemove, faultfs.OpClose} {
		t.Run(string(op), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "say secret")
				for range 3 {
					r.ask(1, exclude(id, r.idOf(id, "secret")))
					want := r.context(id)
					broken := r.disk.fail(syscall.EIO, op)
					require.NoError(t, r.close(grace))
					broken.heal()
					require.Empty(t, r.mem.Held())
					require.Empty(t, wrongWith(r.mem, id))
					r.restart()
					r.requireContext(want, id)
					r.ask(1, resume(id))
					r.ask(1, undo(id))
				}
				r.leave()
				require.Empty(t, wrongWith(worstCrash(r.mem), id))
			})
		})
	}
}

// requireAfterCrashes checks that a thread resumed from any crash state of the disk has the wanted
// context.
func (r *rig) requireAfterCrashes(id, want string) {
	r.t.Helper()
	r.requireAfter(id, want, worstCrash(r.mem))
	for seed := range uint64(3) {
		r.requireAfter(id, want, r.mem.CrashClone(rand.New(rand.NewPCG(seed, 2))))
	}
}

func (r *rig) requireAfter(id, want string, mem *faultfs.Mem) {
	r.t.Helper()
	require.Empty(r.t, wrongWith(mem, id))
	crashed := newRig(r.t, mem, mem)
	crashed.setup = r.setup
	crashed.restart()
	r.t.Cleanup(crashed.release)
	crashed.ask(1, resume(id))
	require.Empty(r.t, crashed.clients.notices(1, "warning"))
	crashed.requireContext(want, id)
	require.NoError(r.t, crashed.close(grace))
	require.Empty(r.t, wrongWith(mem, id))
	require.Empty(r.t, mem.Held())
	require.Empty(r.t, crashed.checker.problems())
}

// TestCrashesAfterEdits crashes after every edit that was answered.
func TestCrashesAfterEdits(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		for i, c := range contextEdits(id, r.ids(id)) {
			r.ask(1, c)
			r.requireAfterCrashes(id, r.context(id))
			if i%4 == 3 {
				r.leaveAndResume(id)
				r.requireAfterCrashes(id, r.context(id))
			}
		}
	})
}

// TestCrashesInRewrites crashes before every operation of each rewrite: of a rollout
// that has no backup, that has one, and that is made whole again.
func TestCrashesInRewrites(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		for _, edit := range []func() call{
			func() call { return exclude(id, r.idOf(id, "run touch a")) },
			func() call { return remove(id, r.ids(id)[2]) },
			func() call { return restore(id) },
			func() call { return undo(id) },
		} {
			r.ask(1, edit())
			want := r.context(id)
			clones := r.crashes(func() { r.leave() })
			require.Greater(t, len(clones), 4*8)
			for _, mem := range clones {
				r.requireAfter(id, want, mem)
			}
			r.ask(1, resume(id))
			r.turn(1, id, "say "+strings.Repeat("more ", 3))
		}
	})
}

// crashes returns the crash states of the disk before each operation on rollouts in do.
func (r *rig) crashes(do func()) (clones []*faultfs.Mem) {
	take := func() {
		clones = append(clones, worstCrash(r.mem))
		for range 3 {
			clones = append(clones, r.mem.CrashClone(rand.New(rand.NewPCG(uint64(len(clones)), 3))))
		}
	}
	r.disk.add(func(_ faultfs.Op, path string) error {
		if isRollout(path) {
			take()
		}
		return nil
	})
	do()
	synctest.Wait()
	r.disk.clear()
	take()
	return clones
}
