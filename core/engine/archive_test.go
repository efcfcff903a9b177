package engine_test

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

func archive(thread string) call {
	p := &protocol.ThreadArchiveParams{ThreadID: thread}
	return call{"thread/archive", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadArchive(to, p) }}
}

func unarchive(thread string) call {
	p := &protocol.ThreadUnarchiveParams{ThreadID: thread}
	return call{"thread/unarchive", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadUnarchive(to, p) }}
}

func (r *rig) pathOf(thread string) string {
	r.t.Helper()
	return r.ask(99, read(thread)).Get("thread.path").Str
}

// TestArchiveALoadedThread checks the disk at the time of the messages, and their order.
func TestArchiveALoadedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(2, resume(id))
		r.turn(1, id, "say hello")
		path := r.pathOf(id)
		r.diary.read()
		r.clients.onMessage(func(m message) {
			if m.method == "thread/archive" || m.method == "thread/archived" {
				found, err := rollout.NewStore(worstCrash(r.mem), home).FindArchived(id)
				require.NoError(t, err, "a crash now leaves it in the archive")
				require.NotEqual(t, path, found)
			}
		})
		r.ask(3, archive(id))
		require.Equal(t, []string{
			"1: notification thread/status/changed notLoaded", "2: notification thread/status/changed notLoaded",
			"3: notification thread/status/changed notLoaded",
			"3: response thread/archive",
			"1: notification thread/archived", "2: notification thread/archived", "3: notification thread/archived",
		}, r.diary.read())
		require.Empty(t, r.loaded())
		require.Empty(t, r.mem.Held())
		require.Equal(t, id, r.ask(1, list(protocol.ThreadListParams{Archived: new(true)})).Get("data.0.id").Str)
		require.Empty(t, r.ask(1, list(protocol.ThreadListParams{})).Get("data").Array())
		r.requireKept(id)
	})
}

// TestArchiveStoredThreads looks at what an archived thread allows, and how it comes back.
func TestArchiveStoredThreads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		path := r.pathOf(id)
		r.diary.read()
		r.ask(1, archive(id))
		require.Equal(t, []string{"1: response thread/archive", "1: notification thread/archived"}, r.diary.read())
		again := r.answer(r.post(1, archive(id))).err
		require.Equal(t, "no rollout found for thread id "+id+": it is archived already", again.Message)
		require.Equal(t, protocol.KindThreadArchived, again.Data.Kind)
		for _, c := range append(contextEdits(id, []string{"r5", "r6", "r7", "r8", "r9"}), resume(id), setName(id, "n"),
			archiveAndNew(id, nil)) {
			require.Equal(t, protocol.KindThreadArchived, r.rejected(1, c), c.method)
		}
		refused := r.answer(r.post(1, resume(id))).err
		require.Equal(t, protocol.CodeInvalidRequest, refused.Code)
		require.Equal(t, "session "+id+" is archived: unarchive it with thread/unarchive first", refused.Message)
		for _, c := range contextReads(id) {
			r.ask(1, c)
		}
		require.Equal(t, "completed", r.ask(1, read(id)).Get("thread.turns.0.status").Str)

		r.diary.read()
		back := r.ask(1, unarchive(id)).Get("thread")
		require.Equal(t, []string{"1: response thread/unarchive", "1: notification thread/unarchived"}, r.diary.read())
		require.Equal(t, path, back.Get("path").Str)
		require.Equal(t, "notLoaded", back.Get("status.type").Str)
		require.Empty(t, back.Get("turns").Array())
		again = r.answer(r.post(1, unarchive(id))).err
		require.Equal(t, "no archived rollout found for thread id "+id, again.Message)
		require.Equal(t, protocol.KindThreadNotFound, again.Data.Kind)
		r.ask(1, resume(id))
		require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, unarchive(id)), "a loaded one is not archived")
		r.turn(1, id, "say more")
		require.Equal(t, []string{"completed"}, r.ends(1))
		r.requireKept(id)
	})
}

func TestArchiveOfMissingThreads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		missing := "0190a6f8-1111-7aaa-8bbb-00000000000a"
		for _, c := range []call{archive(missing), archiveAndNew(missing, nil)} {
			m := r.answer(r.post(1, c)).err
			require.Equal(t, "no rollout found for thread id "+missing, m.Message)
			require.Equal(t, protocol.KindThreadNotFound, m.Data.Kind)
		}
		for _, c := range []call{archive("x"), unarchive("x"), archiveAndNew("x", nil)} {
			require.Equal(t, protocol.KindInvalidThreadID, r.rejected(1, c), c.method)
		}
		require.Empty(t, rolloutsOf(r.mem, ""))
		ephemeral := r.ask(1, startWith(protocol.ThreadStartParams{Ephemeral: new(true)})).Get("thread.id").Str
		require.Equal(t, protocol.KindInvalidRequest, r.rejected(1, archive(ephemeral)))
		require.Equal(t, protocol.KindInvalidRequest, r.rejected(1, archiveAndNew(ephemeral, nil)))
		require.Equal(t, []string{ephemeral}, r.loaded())
	})
}

func TestArchiveAndNewIsRefusedWhileATurnIsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		turn := r.turn(1, id, "hang")
		err := r.answer(r.post(2, archiveAndNew(id, nil))).err
		require.Equal(t, protocol.CodeInvalidRequest, err.Code)
		require.Equal(t, protocol.KindTurnActive, err.Data.Kind)
		require.Equal(t, turn, err.Data.TurnID)
		require.Contains(t, err.Message, turn)
		require.Contains(t, err.Message, "turn/interrupt")
		require.Empty(t, r.unasked(2))
		require.Equal(t, []string{id}, r.loaded())
		r.ask(1, interrupt(id, turn))
	})
}

func TestArchiveEndsTheTurnUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "hang")
		r.diary.read()
		r.ask(1, archive(id))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		require.Equal(t, []string{
			"disk takes token_count message turn_aborted", "disk syncs",
			"1: notification thread/status/changed idle", "1: notification turn/completed interrupted",
			"1: notification ContextItems",
			"1: notification thread/status/changed notLoaded", "1: response thread/archive", "1: notification thread/archived",
		}, r.diary.read())
		require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, turn(id, "say more")))
		require.Empty(t, r.loaded())
		r.requireKept(id)
	})
}

// TestArchiveEndsTheTurnThatWaits has a turn wait for the end of one that was interrupted.
func TestArchiveEndsTheTurnThatWaits(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		first := r.turn(1, id, "run hang")
		r.ask(1, interrupt(id, first))
		waits, archived := r.post(1, turn(id, "hang")), r.post(1, archive(id))
		require.Nil(t, r.answer(archived).err)
		require.NotEqual(t, first, r.answer(waits).body.Get("turn.id").Str)
		require.Equal(t, []string{"interrupted", "interrupted"}, r.ends(1))
		r.requireKept(id)
	})
}

// TestArchiveThatIsRefusedLeavesTheTurn archives a thread that is kept in memory only.
func TestArchiveThatIsRefusedLeavesTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.ask(1, startWith(protocol.ThreadStartParams{Ephemeral: new(true)})).Get("thread.id").Str
		active := r.turn(1, id, "hang")
		require.Equal(t, protocol.KindInvalidRequest, r.rejected(1, archive(id)))
		require.Equal(t, protocol.KindInvalidRequest, r.rejected(1, deleteThread(id)))
		require.Empty(t, r.ends(1))
		r.ask(1, interrupt(id, active))
	})
}

// TestTheContextSurvivesTheArchive takes items out, goes to the archive and back, twice,
// and finds the context as it was, with all that is out of it.
func TestTheContextSurvivesTheArchive(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		before := r.ask(1, getItems(id)).Get("items").Array()
		r.ask(1, exclude(id, before[3].Get("id").Str))
		want := r.ask(1, getItems(id)).Get("{revision,items}").Raw
		for range 2 {
			r.ask(1, archive(id))
			require.Equal(t, protocol.KindThreadArchived, r.rejected(1, resume(id)))
			require.Equal(t, want, r.ask(1, getItems(id)).Get("{revision,items}").Raw)
			main, backup := r.files(id)
			require.NotEmpty(t, backup)
			require.Contains(t, main, "context_backup")
			r.ask(1, unarchive(id))
			r.ask(1, resume(id))
			require.Equal(t, want, r.ask(1, getItems(id)).Get("{revision,items}").Raw)
		}
		r.ask(1, restoreFromBackup(id))
		require.Equal(t, len(before), len(r.items(id)))
		require.True(t, r.items(id)[3].Get("included").Bool())
		r.requireKept(id)
	})
}

// TestWhatWaitsForAThreadFindsItArchived posts several requests at once: each finds what
// those before it left.
func TestWhatWaitsForAThreadFindsItArchived(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		g := r.gate()
		r.setup.onWorld(func(string) error { g.pass(); return nil })
		held := r.post(1, resume(id)) // keeps the thread busy
		synctest.Wait()
		calls := []call{getItems(id), archive(id), turn(id, "say more"), archive(id), resume(id), getItems(id), unarchive(id),
			resume(id), turn(id, "say on")}
		var posted []protocol.Caller
		for i, c := range calls {
			posted = append(posted, r.post(uint64(1+i%2), c))
		}
		g.open()
		require.Nil(t, r.answer(held).err)
		var kinds []protocol.Kind
		for _, to := range posted {
			kind := protocol.Kind("")
			if m := r.answer(to); m.err != nil {
				kind = m.err.Data.Kind
			}
			kinds = append(kinds, kind)
		}
		require.Equal(t, []protocol.Kind{
			"", "", protocol.KindThreadNotFound, protocol.KindThreadArchived, protocol.KindThreadArchived, "", "", "", "",
		}, kinds)
		require.Equal(t, []string{"completed"}, r.ends(2), "who resumed it again hears of the turn")
		r.requireKept(id)
	})
}

// TestAThreadThatCannotBeArchived expects it to be unloaded in place, and to continue later.
func TestAThreadThatCannotBeArchived(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		path := r.pathOf(id)
		fault := r.disk.fail(syscall.EIO, faultfs.OpLink, faultfs.OpSyncDir)
		r.clients.forget()
		require.Equal(t, protocol.KindStorage, r.rejected(2, archive(id)))
		require.Len(t, r.clients.notices(1, "thread/closed"), 1)
		require.Empty(t, r.clients.notices(1, "thread/archived"))
		fault.heal()
		require.Equal(t, path, r.pathOf(id))
		r.ask(1, resume(id))
		r.turn(1, id, "say more")
		r.ask(1, archive(id))
		r.requireKept(id)
	})
}

func TestAForeseeableRefusalLeavesTheThreadLoaded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		other := home + "/archived_sessions/rollout-2000-01-01T00-00-00-" + id + ".jsonl"
		require.NoError(t, r.mem.MkdirAll(home+"/archived_sessions", 0o700))
		put(t, r, other, "something else\n")
		err := r.answer(r.post(1, archive(id))).err
		require.NotNil(t, err)
		require.Contains(t, err.Message, "move that file away")
		require.Equal(t, []string{id}, r.loaded())
		require.Equal(t, "something else\n", get(t, r, other))
		require.NoError(t, r.mem.Remove(other))
		r.ask(1, archive(id))
	})
}

func TestAnotherWriterKeepsAThreadFromTheArchive(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		log, _, err := rollout.NewStore(r.mem, home).Open(r.pathOf(id))
		require.NoError(t, err)
		for _, c := range []call{archive(id), archiveAndNew(id, nil)} {
			require.Equal(t, protocol.KindThreadLocked, r.converse(1, c).err.Data.Kind, c.method)
		}
		require.NoError(t, log.Close())
		r.ask(1, archive(id))
		require.Len(t, rolloutsOf(r.mem, ""), 1, "no new thread is left")
	})
}

// TestEveryDiskOperationOfTheArchiveMayFail lives a life that leads to the archive and
// back.
func TestEveryDiskOperationOfTheArchiveMayFail(t *testing.T) {
	sample.NoRace(t)
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) { sweep(t, f, (*life).archived) })
	}
}

func (l *life) archived() {
	l.thread = l.insist(start).Get("thread.id").Str
	l.do("run touch a")
	l.insist(func() call { return exclude(l.thread, "r6") })
	for range 2 {
		l.away(archive)
		l.away(unarchive)
	}
	l.insist(func() call { return resume(l.thread) })
	l.do("say more")
	l.checkDurable()
	if err := l.close(time.Minute); err != nil {
		l.report("%v", err)
	}
	l.checkDurable()
}

// away moves the thread. A move that was refused may have happened nevertheless.
func (l *life) away(move func(string) call) {
	for range 10 {
		got := l.clients.answersTo(l.post(1, move(l.thread)))[0]
		l.checkDurable()
		if got.err == nil {
			return
		}
		switch got.err.Data.Kind {
		case protocol.KindThreadArchived, protocol.KindThreadNotFound:
			return
		case protocol.KindStorage, protocol.KindRolloutUnreadable:
			l.costs++
		default:
			l.report("%v %s, for a failure of the disk", got, got.err.Message)
		}
	}
	l.report("the thread is never moved, though the disk has healed")
}
