package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/test/sample"
)

func fork(thread string) call { return forkWith(protocol.ThreadForkParams{ThreadID: thread}) }

func forkWith(p protocol.ThreadForkParams) call {
	return call{"thread/fork", p.ThreadID,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadFork(to, &p) }}
}

// prompt returns the next model request of a thread.
func (r *rig) prompt(thread string) string {
	r.t.Helper()
	return r.ask(99, getPrompt(thread)).Get("messages").Raw
}

// TestAForkSendsTheSameMessages applies edits, a trim with a summary and a compaction. The fork sends the
// same prompt as the thread, independent of the thread's later changes.
func TestAForkSendsTheSameMessages(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.turn(1, id, "say hello")
		for _, edit := range []func() call{
			func() call { return exclude(id, r.idOf(id, "hello")) },
			func() call { return remove(id, r.idOf(id, "done")) },
			func() call { return trim(id) },
			func() call { return undo(id) },
			func() call { return pin(id, r.idOf(id, "say hello")) },
			func() call { return setName(id, "mine") },
		} {
			r.ask(1, edit())
			got := r.ask(2, fork(id))
			next := got.Get("thread.id").Str
			require.Equal(t, id, got.Get("thread.forkedFromId").Str)
			require.Equal(t, r.ask(99, read(id)).Get("thread.name").Raw, got.Get("thread.name").Raw)
			require.Equal(t, r.prompt(id), r.prompt(next))
			require.Equal(t, r.outline(id), r.outline(next))
			require.Equal(t, r.ids(id), r.ids(next))
			r.requireKept(next)
			r.leaveAndResume(next)
			require.Equal(t, r.prompt(id), r.prompt(next))
			r.ask(2, undo(next))
			r.turn(2, next, "say more")
			r.requireKept(next)
			r.ask(1, resume(id))
		}
		r.requireKept(id)
	})
}

// TestAForkIsDurableBeforeItIsReported expects the notification and the stored name after the files.
func TestAForkIsDurableBeforeItIsReported(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.clients.onMessage(func(m message) {
			if m.method == "thread/fork" {
				contents, err := rollout.NewStore(worstCrash(r.mem), home).Read(m.body.Get("thread.path").Str)
				require.NoError(t, err)
				require.Empty(t, contents.Damage)
			}
		})
		next := r.ask(1, fork(id)).Get("thread.id").Str
		require.Equal(t, []string{next}, r.loaded(), "the other one stays as it was")
		require.Len(t, r.clients.notices(1, "thread/started"), 1)
		r.turn(1, next, "say more")
		require.Equal(t, []string{"completed"}, r.ends(1))
		require.Equal(t, "vscode", r.metaOf(next).Get("source").Str)
	})
}

// TestForkIsCompleteOrAbsentAfterACrash crashes before every operation on the disk: the fork is whole, or is not
// there.
func TestForkIsCompleteOrAbsentAfterACrash(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.turn(1, id, "say hello")
		turns := r.ask(99, call{"thread/read", id, func(e *engine.Engine, to protocol.Caller) error {
			return e.ThreadRead(to, &protocol.ThreadReadParams{ThreadID: id, IncludeTurns: true})
		}}).Get("thread.turns").Raw
		clones := r.crashes(func() { r.ask(1, fork(id)) })
		require.Greater(t, len(clones), 8)
		whole := 0
		for _, mem := range clones {
			crashed := newRig(t, mem, mem)
			for _, thread := range crashed.ask(1, list(protocol.ThreadListParams{})).Get("data").Array() {
				if thread.Get("id").Str != id {
					whole++
					got := crashed.ask(1, resume(thread.Get("id").Str))
					require.Equal(t, turns, got.Get("thread.turns").Raw)
					require.Equal(t, id, got.Get("thread.forkedFromId").Str)
				}
			}
			require.NoError(t, crashed.close(grace))
			crashed.release()
		}
		require.NotZero(t, whole)
		require.Less(t, whole, len(clones))
	})
}

// TestEveryDiskOperationOfAForkMayFail fails all operations but one. If the file cannot be removed
// either, a complete unannounced fork remains.
func TestEveryDiskOperationOfAForkMayFail(t *testing.T) {
	sample.NoRace(t)
	all := faults()
	for _, name := range []string{"one operation", "one, in part"} {
		t.Run(name, func(t *testing.T) { sweep(t, all[name], (*life).forked) })
	}
}

func (l *life) forked() {
	l.thread = l.insist(start).Get("thread.id").Str
	l.do("run touch a")
	count := func() (n int) {
		for _, path := range rolloutsOf(l.mem, "") {
			if strings.HasSuffix(path, ".jsonl") {
				n++
			}
		}
		return n
	}
	before := count()
	got := l.clients.answersTo(l.post(1, fork(l.thread)))[0]
	for got.err != nil {
		l.costs++
		if n := count(); n != before {
			l.report("a fork that was refused leaves %d rollouts", n-before)
		}
		got = l.clients.answersTo(l.post(1, fork(l.thread)))[0]
	}
	l.thread = got.body.Get("thread.id").Str
	l.do("run touch b")
	l.checkDurable()
	l.leave()
}

// TestWhatCannotBeForked leaves nothing.
func TestWhatCannotBeForked(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		archived, damaged := r.stored("say hello"), r.stored("say secret")
		r.ask(1, archive(archived))
		r.ask(1, exclude(damaged, r.idOf(damaged, "secret")))
		memory := r.ask(1, startWith(protocol.ThreadStartParams{Ephemeral: new(true)})).Get("thread.id").Str
		before := len(rolloutsOf(r.mem, ""))
		require.Equal(t, protocol.KindThreadArchived, r.rejected(1, fork(archived)))
		require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, fork(memory)))
		require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, fork(fresh)))
		_, backup := r.files(damaged)
		require.NotEmpty(t, backup)
		require.NoError(t, r.mem.Remove(r.pathOf(damaged)+".bak"))
		require.Equal(t, protocol.KindBackupMismatch, r.rejected(1, fork(damaged)))
		require.Len(t, rolloutsOf(r.mem, ""), before-1)
	})
}

// TestAForkOfALockedThread reads what another server has.
func TestAForkOfALockedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		log, _, err := rollout.NewStore(r.mem, home).Open(r.pathOf(id))
		require.NoError(t, err)
		require.Equal(t, "say hello", r.ask(1, fork(id)).Get("thread.preview").Str)
		require.NoError(t, log.Close())
	})
}

// TestAForkOfAnEphemeralThreadIsEphemeral configures threads without rollouts.
func TestAForkOfAnEphemeralThreadIsEphemeral(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.setup.persist = false
		got := r.ask(1, fork(id))
		require.True(t, got.Get("thread.ephemeral").Bool())
		require.Len(t, rolloutsOf(r.mem, ""), 1)
		r.turn(1, got.Get("thread.id").Str, "say more")
		require.Contains(t, r.agent.last(), "say hello")
	})
}
