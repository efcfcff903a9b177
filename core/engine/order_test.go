package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/faultfs"
)

// block stops a thread at its next turn/start, which is for client 8, until the gate
// is opened.
func (r *rig) block(thread string) *gate {
	r.t.Helper()
	g := r.gate()
	r.setup.onWorld(func(string) error { r.setup.onWorld(nil); g.pass(); return nil })
	r.post(8, turn(thread, "say blocked"))
	synctest.Wait()
	require.EqualValues(r.t, 1, g.waiting.Load())
	return g
}

func TestRequestsTakeEffectInTheOrderOfArrival(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		g := r.block(id)
		var posted []protocol.Caller
		for i := range 20 {
			posted = append(posted, r.post(uint64(1+i%3), setName(id, fmt.Sprint(i))), r.post(uint64(1+i%2), read(id)))
		}
		var order []protocol.Caller
		r.clients.onMessage(func(m message) {
			if m.kind == response && m.method != "turn/start" {
				order = append(order, m.to)
			}
		})
		g.open()
		synctest.Wait()
		require.Equal(t, posted, order)
		for i := range 20 {
			require.Equal(t, fmt.Sprint(i), r.answer(posted[2*i+1]).body.Get("thread.name").Str)
		}
	})
}

// TestThreadsDoNotWaitForEachOther stops one thread and uses another, in each way that
// a thread can be stopped.
func TestThreadsDoNotWaitForEachOther(t *testing.T) {
	for name, stop := range map[string]func(r *rig, blocked string) *gate{
		"by the setup": func(r *rig, blocked string) *gate { return r.block(blocked) },
		"by the disk": func(r *rig, blocked string) *gate {
			g := r.disk.hold(r.gate(), faultfs.OpWrite, blocked)
			r.post(8, setName(blocked, "n"))
			return g
		},
		"by its client": func(r *rig, blocked string) *gate {
			r.clients.congest(8)
			r.post(8, resume(blocked))
			r.post(8, turn(blocked, "flood"))
			return r.gate()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				stored := r.stored("say hello")
				blocked, free := r.begin(1), r.begin(1)
				g := stop(r, blocked)
				synctest.Wait()
				r.turn(1, free, "run touch a")
				r.ask(1, resume(stored))
				r.turn(1, stored, "say more")
				require.Equal(t, []string{"completed", "completed"}, r.ends(1))
				r.ask(1, list(protocol.ThreadListParams{}))
				require.Len(t, r.loaded(), 3)
				g.open()
				r.clients.relieve(8)
			})
		})
	}
}

// TestPostsDoNotWait checks that posting a request, which the only reader of a connection does, waits
// for no disk and no thread.
func TestPostsDoNotWait(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored := r.stored("say hello")
		id := r.begin(1)
		path := r.ask(1, read(stored)).Get("thread.path").Str
		for _, op := range []faultfs.Op{faultfs.OpOpen, faultfs.OpReadDir, faultfs.OpWrite} {
			r.disk.hold(r.gate(), op, home)
		}
		r.post(1, setName(id, "n"))
		for _, c := range append([]call{
			start(), resume(stored), resume(id), resumeWith(protocol.ThreadResumeParams{Path: &path}), read(id), read(stored),
			turn(id, "say x"),
			steer(id, "t", "x"), interrupt(id, ""), setName(stored, "n"), unsubscribe(id), list(protocol.ThreadListParams{}),
			loadedList(protocol.ThreadLoadedListParams{}),
			getItems(id), getItems(stored), getPrompt(stored), undo(id), restore(stored), timeline(id), timeline(stored),
		}, contextReads(id)...) {
			posted := false
			go func() {
				r.post(1, c)
				posted = true
			}()
			synctest.Wait()
			if !posted {
				t.Errorf("%s waits", c.method)
			}
		}
	})
}

// TestRequestsWaitForLoading checks that requests that come while a thread is loaded
// are served in order once it is.
func TestRequestsWaitForLoading(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		g := r.disk.hold(r.gate(), faultfs.OpReadDir, home)
		calls := []call{resume(id), resume(id), setName(id, "n"), turn(id, "hang"), read(id), interrupt(id, ""),
			unsubscribe(id)}
		var posted []protocol.Caller
		for _, c := range calls {
			posted = append(posted, r.post(1, c))
		}
		synctest.Wait()
		require.EqualValues(t, 1, g.waiting.Load(), "loaded once")
		require.Empty(t, r.loaded(), "not before it is")
		var order []string
		r.clients.onMessage(func(m message) {
			if m.kind == response {
				order = append(order, m.method)
			}
		})
		g.open()
		for _, to := range posted {
			require.Nil(t, r.answer(to).err)
		}
		var want []string
		for _, c := range calls {
			want = append(want, c.method)
		}
		require.Equal(t, want, order)
		require.Equal(t, "n", r.answer(posted[4]).body.Get("thread.name").Str)
	})
}

// TestALoadThatFails refuses all who wait, for a reason that is true, and forgets the
// thread, so that it can be loaded once the reason is gone.
func TestALoadThatFails(t *testing.T) {
	for name, first := range map[string]func(id string) call{"resume": resume,
		"name": func(id string) call { return setName(id, "n") }} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.stored("say hello")
				lock, err := r.mem.Lock(home+"/thread-writer-locks/"+id+".lock", 1)
				require.NoError(t, err)
				g := r.disk.hold(r.gate(), faultfs.OpReadDir, home)
				loading := r.post(1, first(id))
				waiting := []protocol.Caller{r.post(1, resume(id)), r.post(2, turn(id, "say x")), r.post(1, setName(id, "m"))}
				g.open()
				time.Sleep(2 * time.Second) // each load waits a moment for a writer that may be dying
				require.Equal(t, protocol.KindThreadLocked, r.rejection(loading))
				for _, to := range waiting {
					require.NotEqual(t, protocol.KindShuttingDown, r.rejection(to), "%s: the server is not shutting down",
						r.checker.methodOf(to))
				}
				require.Empty(t, r.loaded())
				again := r.post(1, resume(id))
				time.Sleep(time.Second)
				require.Equal(t, protocol.KindThreadLocked, r.rejection(again))
				require.NoError(t, lock.Close())
				r.ask(1, resume(id))
				r.turn(1, id, "say more")
				require.Equal(t, []string{"completed"}, r.ends(1))
				r.requireKept(id)
			})
		})
	}
}

// TestResumeWhileNaming checks that a thread that is loaded to be named is loaded in
// full for a client that resumes it meanwhile.
func TestResumeWhileNaming(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "hang")
		crashed := r.afterCrash()
		path := crashed.ask(1, read(id)).Get("thread.path").Str
		put(t, crashed, path, "no JSON\n")
		g := crashed.disk.hold(crashed.gate(), faultfs.OpReadDir, home)
		named := crashed.post(1, setName(id, "n"))
		resumed := crashed.post(2, resumeWith(protocol.ThreadResumeParams{ThreadID: id, Model: new("model-2")}))
		g.open()
		require.Nil(t, crashed.answer(named).err)
		got := crashed.answer(resumed)
		require.Nil(t, got.err)
		require.Equal(t, []string{id}, crashed.loaded())
		require.Equal(t, "n", got.body.Get("thread.name").Str)
		require.Len(t, crashed.clients.notices(2, "warning"), 1, "the client hears of the damage")
		require.Equal(t, "model-2", got.body.Get("model").Str, "the client gets the settings it asks for")
		crashed.turn(2, id, "say hello")
		require.Equal(t, []string{"completed"}, crashed.ends(2))
		require.Empty(t, crashed.ends(1), "a client that named a thread did not subscribe to it")
		cut := crashed.ask(2, read(id)).Get("thread.turns.0.id").Str
		require.True(t, factsOf(crashed.mem, id)["end of turn "+cut], "the turn that the crash cut off has an end")
		require.NoError(t, crashed.close(grace))
	})
}

// TestResumeDuringAnUnload checks that a thread is not found locked by the one
// that is about to leave it.
func TestResumeDuringAnUnload(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		g := r.disk.hold(r.gate(), faultfs.OpClose, id)
		r.ask(1, setName(id, "n"))
		require.EqualValues(t, 1, g.waiting.Load(), "the thread is about to be let go")
		resumed := r.post(1, resume(id))
		synctest.Wait()
		g.open()
		m := r.answer(resumed)
		require.Nil(t, m.err, "the thread is there: %v", m.err)
		require.Equal(t, "n", m.body.Get("thread.name").Str)
	})
}
