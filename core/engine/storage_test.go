package engine_test

import (
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/faultfs"
)

const errFull = syscall.ENOSPC

// writes is the operations that fail on a full disk, everything the ones that fail on a removed disk.
var (
	writes     = []faultfs.Op{faultfs.OpWrite}
	everything = []faultfs.Op{faultfs.OpOpen, faultfs.OpRead, faultfs.OpWrite, faultfs.OpSync, faultfs.OpTruncate}
)

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

// resolved counts the requests that a client was notified as resolved.
func (r *rig) resolved(conn uint64) int {
	synctest.Wait()
	return len(r.clients.notices(conn, "serverRequest/resolved"))
}

// TestAFullDisk fills the disk in each state of a turn, and empties it again. The writing request is
// rejected, the turn fails once, and the thread continues from the state of the disk.
func TestAFullDisk(t *testing.T) {
	for _, words := range []string{"hang", "run touch a", "run hang"} {
		t.Run(words, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.setup.policy = protocol.ApprovalUntrusted
				id := r.begin(1)
				r.turn(1, id, words)
				if words == "run hang" {
					r.clients.open(1)[0].answer(decision("accept"), nil)
					synctest.Wait()
				}
				asked := len(r.clients.open(1))
				full := r.disk.fail(errFull, writes...)
				before := len(r.unasked(1))
				m := r.answer(r.post(1, setName(id, "n")))
				require.NotNil(t, m.err)
				require.Equal(t, protocol.KindStorage, m.err.Data.Kind)
				require.Equal(t, protocol.CodeInternalError, m.err.Code)
				require.Contains(t, m.err.Message, "free space on this disk")
				require.Equal(t, []string{"failed"}, r.ends(1))
				received := r.clients.all(1, func(m message) bool { return m.kind == notification })
				received = received[len(received)-4-asked:]
				require.Equal(t, 4+asked, len(r.unasked(1))-before, "nothing else is said")
				require.Equal(t, []string{"thread/status/changed", "error", "turn/completed", "ContextItems"},
					methodsOf(received[asked:]))
				require.Equal(t, "systemError", received[asked].body.Get("status.type").Str)
				require.Contains(t, received[asked+2].body.Get("turn.error.message").Str, "could not be saved")
				require.Zero(t, r.agent.running.Load())
				full.heal()
				r.ask(1, setName(id, "n"))
				r.requireKept(id)
				r.turn(1, id, "say hello")
				require.Equal(t, []string{"failed", "completed"}, r.ends(1))
				thread := r.ask(1, read(id)).Get("thread")
				require.Equal(t, []string{"failed", "completed"}, texts(thread.Get("turns").Array(), "status"))
				r.requireKept(id)
			})
		})
	}
}

func methodsOf(messages []message) (methods []string) {
	for _, m := range messages {
		methods = append(methods, m.method)
	}
	return methods
}

// TestADiskThatStaysFull checks that a thread with a failed turn can be read, that every request has a
// response, and that the end of the turn is not sent again.
func TestADiskThatStaysFull(t *testing.T) {
	for name, c := range map[string]struct {
		request func(id, turn string) call
		want    protocol.Kind // "" where the disk is not needed
	}{
		"read":             {func(id, _ string) call { return read(id) }, ""},
		"resume":           {func(id, _ string) call { return resume(id) }, ""},
		"interrupt":        {func(id, _ string) call { return interrupt(id, "") }, protocol.KindNoActiveTurn},
		"interrupt a turn": {func(_, turn string) call { return interrupt("", turn) }, protocol.KindNoActiveTurn},
		"steer":            {func(id, turn string) call { return steer(id, turn, "x") }, protocol.KindNoActiveTurn},
		"name":             {func(id, _ string) call { return setName(id, "m") }, protocol.KindStorage},
		"turn":             {func(id, _ string) call { return turn(id, "say x") }, protocol.KindStorage},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				turn := r.turn(1, id, "hang")
				full := r.disk.fail(errFull, writes...)
				require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
				m := r.answer(r.post(1, c.request(id, turn)))
				if c.want == "" {
					require.Nil(t, m.err, "the disk is not needed for this")
				} else {
					require.Equal(t, c.want, m.err.Data.Kind)
				}
				require.Equal(t, []string{"failed"}, r.ends(1), "the end of the turn is sent once")
				full.heal()
				r.turn(1, id, "say hello")
				require.Equal(t, []string{"failed", "completed"}, r.ends(1))
				r.requireKept(id)
			})
		})
	}
}

// TestCloseOnAFullDisk checks that the server ends in order though nothing more can be
// written.
func TestCloseOnAFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.turn(1, r.begin(1), "hang")
		r.turn(1, r.begin(1), "say hello")
		r.disk.fail(errFull, writes...)
		require.NoError(t, r.close(grace))
		require.Equal(t, []string{"completed", "failed"}, r.ends(1))
	})
}

// TestWaitingInputOnAFullDisk checks that input that waits for a turn's end is refused
// when that end cannot be written.
func TestWaitingInputOnAFullDisk(t *testing.T) {
	for name, lose := range map[string]func(r *rig, id string){
		"with the turn's end": func(*rig, string) { time.Sleep(2 * time.Second) },
		"before": func(r *rig,
			id string) {
			require.Equal(r.t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "run linger")
				r.ask(1, interrupt(id, ""))
				waiting := []protocol.Caller{r.post(1, turn(id, "say a")), r.post(2, turn(id, "say b"))}
				full := r.disk.fail(errFull, writes...)
				lose(r, id)
				for _, to := range waiting {
					require.Equal(t, protocol.KindStorage, r.rejection(to))
				}
				require.Len(t, r.ends(1), 1)
				full.heal()
				r.turn(1, id, "say hello")
				require.Len(t, r.ends(1), 2)
				r.requireKept(id)
			})
		})
	}
}

// TestAQuestionThatIsNotAsked checks that a client receives no resolution of a request that it never
// received.
func TestAQuestionThatIsNotAsked(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		var full *fault
		r.clients.onMessage(func(m message) {
			if m.method == "item/completed" && full == nil { // the user's words
				full = r.disk.fail(errFull, writes...)
			}
		})
		r.turn(1, id, "run touch a")
		require.Equal(t, []string{"failed"}, r.ends(1))
		require.Zero(t, r.resolved(1))
		full.heal()
	})
}

// TestADecisionOnAFullDisk checks that a question is resolved for all clients though
// what follows from the answer cannot be written.
func TestADecisionOnAFullDisk(t *testing.T) {
	for name, decide := range map[string]func(r *rig, id string){
		"decline":   func(r *rig, _ string) { r.clients.open(1)[0].answer(decision("decline"), nil) },
		"cancel":    func(r *rig, _ string) { r.clients.open(1)[0].answer(decision("cancel"), nil) },
		"interrupt": func(r *rig, id string) { require.Equal(r.t, protocol.KindStorage, r.rejected(1, interrupt(id, ""))) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.setup.policy = protocol.ApprovalUntrusted
				id := r.begin(1)
				r.ask(2, resume(id))
				r.turn(1, id, "run touch a")
				full := r.disk.fail(errFull, writes...)
				decide(r, id)
				require.Equal(t, []string{"failed"}, r.ends(1))
				require.Equal(t, 1, r.resolved(1))
				require.Equal(t, 1, r.resolved(2))
				full.heal()
				r.turn(1, id, "say hello")
				r.requireKept(id)
			})
		})
	}
}

// TestAThreadThatCannotBegin checks that a refused thread/start leaves nothing behind.
func TestAThreadThatCannotBegin(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.OpWrite, faultfs.OpOpen} {
		t.Run(string(op), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				full := r.disk.fail(errFull, op)
				require.Equal(t, protocol.KindStorage, r.rejected(1, start()))
				require.Empty(t, r.unasked(1), "no notification about a thread that does not exist")
				require.Empty(t, r.loaded())
				require.Empty(t, r.mem.Held())
				full.heal()
				id := r.begin(1)
				require.Equal(t, []string{id}, r.loaded())
				r.turn(1, id, "say hello")
				r.requireKept(id)
			})
		})
	}
}

// TestAThreadThatCannotBeLoaded checks that a resume that cannot write the end of the
// turn that a crash cut off is refused, and leaves nothing behind.
func TestAThreadThatCannotBeLoaded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "hang")
		crashed := r.afterCrash()
		full := crashed.disk.fail(errFull, writes...)
		require.Equal(t, protocol.KindStorage, crashed.rejected(1, resume(id)))
		require.Empty(t, crashed.unasked(1), "a client that was refused did not subscribe")
		require.Empty(t, crashed.loaded())
		require.Empty(t, crashed.mem.Held())
		full.heal()
		got := crashed.ask(1, resumeWith(protocol.ThreadResumeParams{ThreadID: id, Model: new("model-2")}))
		require.Equal(t, "model-2", got.Get("model").Str)
		require.Equal(t, "interrupted", got.Get("thread.turns.0.status").Str)
	})
}

// TestADiskThatIsGone checks that a thread whose file cannot even be read is given up
// in order, and can be loaded once the disk is back.
func TestADiskThatIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.policy = protocol.ApprovalUntrusted
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		g := r.block(id)
		posted := []protocol.Caller{r.post(1, setName(id, "n")), r.post(1, read(id)), r.post(2, resume(id))}
		gone := r.disk.fail(syscall.EIO, everything...)
		g.open()
		for _, to := range posted {
			require.Contains(t, []protocol.Kind{protocol.KindStorage, protocol.KindRolloutUnreadable}, r.rejection(to),
				r.checker.methodOf(to))
		}
		require.Empty(t, r.ends(1), "the turn waits for an answer only")
		require.Equal(t, 1, r.resolved(1))
		require.Len(t, r.clients.notices(1, "thread/closed"), 1)
		require.Empty(t, r.loaded())
		gone.heal()
		require.Equal(t, "inProgress", r.ask(1, resume(id)).Get("thread.turns.0.status").Str)
		r.clients.open(1)[0].answer(decision("accept"), nil)
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, []string{"touch a"}, r.agent.ran())
		r.requireKept(id)
	})
}

// TestLinesThatCannotBeCutOff checks that memory equals the disk after a failed sync whose lines could
// not be truncated.
func TestLinesThatCannotBeCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		lost   func(id string) call
	}{
		"name":           {"say hello", func(id string) call { return setName(id, "lost") }},
		"turn":           {"say hello", func(id string) call { return turn(id, "say lost") }},
		"name in a turn": {"hang", func(id string) call { return setName(id, "lost") }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, c.before)
				stuck := r.disk.fail(syscall.EIO, faultfs.OpSync, faultfs.OpTruncate)
				require.Equal(t, protocol.KindStorage, r.rejected(1, c.lost(id)))
				stuck.heal()
				require.NotContains(t, r.ask(1, read(id)).Raw, "lost", "what was refused did not happen")
				r.turn(1, id, "say more")
				require.Equal(t, "completed", r.ends(1)[1])
				r.requireKept(id)
			})
		})
	}
}

// TestSettingsOutliveAFullDisk checks that a thread continues with the settings that its client
// received.
func TestSettingsOutliveAFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.ask(1, resumeWith(protocol.ThreadResumeParams{ThreadID: id, Model: new("model-2")}))
		full := r.disk.fail(errFull, writes...)
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		full.heal()
		require.Equal(t, "model-2", r.ask(1, resume(id)).Get("model").Str)
	})
}

// TestRejectedNamesAreNotShown checks that a name that was refused is not shown to those who
// waited for the thread meanwhile, nor later.
func TestRejectedNamesAreNotShown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		var gone *fault
		r.disk.add(func(op faultfs.Op, path string) error {
			if op == faultfs.OpWrite && isRollout(path) {
				gone.on.Store(true)
			}
			return nil
		})
		gone = r.disk.fail(syscall.EIO, everything...)
		gone.heal()
		g := r.disk.hold(r.gate(), faultfs.OpReadDir, home)
		named, waiting := r.post(1, setName(id, "lost")), r.post(1, read(id))
		g.open()
		require.NotNil(t, r.answer(named).err)
		require.NotContains(t, r.answer(waiting).body.Raw, "lost")
		r.disk.clear()
		require.NotContains(t, r.ask(1, resume(id)).Raw, "lost")
		r.requireKept(id)
	})
}

// TestANameThatOthersDoNotSee checks that a name is kept though the index that other
// programs read cannot be written.
func TestANameThatOthersDoNotSee(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.disk.add(func(op faultfs.Op, path string) error {
			if op == faultfs.OpWrite && !isRollout(path) {
				return errFull
			}
			return nil
		})
		r.ask(1, setName(id, "n"))
		require.Equal(t, "n", r.ask(1, read(id)).Get("thread.name").Str)
		require.Equal(t, 1, r.logs.FilterMessage("the name of the thread could not be indexed").Len())
		r.requireKept(id)
	})
}

// TestTheLastNameCounts checks that a name that was answered is not undone by an older
// one in the index, when the index could not be written.
func TestTheLastNameCounts(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		r.ask(1, setName(id, "first"))
		r.disk.add(func(op faultfs.Op, path string) error {
			if op == faultfs.OpWrite && !isRollout(path) {
				return errFull
			}
			return nil
		})
		time.Sleep(time.Second)
		r.ask(1, setName(id, "second"))
		require.NoError(t, r.close(grace))
		r.disk.clear()
		r.restart()
		require.Equal(t, "second", r.ask(1, read(id)).Get("thread.name").Str)
		require.Equal(t, "second", r.ask(1, resume(id)).Get("thread.name").Str)
	})
}

// TestAFailedTurnAtClose checks that the end of a turn that could not be saved is, when
// the server ends and the disk has healed.
func TestAFailedTurnAtClose(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "hang")
		full := r.disk.fail(errFull, writes...)
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		full.heal()
		require.Equal(t, []string{"failed"}, r.ends(1))
		require.NoError(t, r.close(grace))
		r.restart()
		require.Equal(t, "failed", r.ask(1, read(id)).Get("thread.turns.0.status").Str)
	})
}
