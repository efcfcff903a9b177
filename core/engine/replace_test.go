package engine_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

const fresh = "0190a6f8-1111-7aaa-8bbb-00000000000c"

func archiveAndNew(thread string, id *string) call {
	p := &protocol.ThreadArchiveAndNewParams{ThreadID: thread, NewThreadID: id}
	return call{"thread/archiveAndNew", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadArchiveAndNew(to, p) }}
}

// metaOf returns the first line of a thread's rollout.
func (r *rig) metaOf(thread string) gjson.Result {
	r.t.Helper()
	contents, err := rollout.NewStore(r.mem, home).Read(r.pathOf(thread))
	require.NoError(r.t, err)
	return gjson.ParseBytes(contents.Lines[0].Payload)
}

// TestSuccessorInheritsFromTheArchivedThread checks the inherited properties of the successor, and the order of
// notifications.
func TestSuccessorInheritsFromTheArchivedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.ask(1, startWith(protocol.ThreadStartParams{Model: new("model-2"),
			ThreadSource: new("user")})).Get("thread.id").Str
		r.ask(2, resume(id))
		r.ask(1, turnWith(protocol.TurnStartParams{ThreadID: id, Input: said("say hello"), Effort: new("high"),
			ServiceTier: new("flex")}))
		r.ask(1, setName(id, "old"))
		before := r.metaOf(id)
		r.diary.read()
		got := r.ask(3, archiveAndNew(id, new(fresh)))
		require.Equal(t, []string{
			"disk takes session_meta turn_context thread_settings_applied", "disk syncs",
			"3: response thread/archiveAndNew",
			"1: notification thread/started", "2: notification thread/started", "3: notification thread/started",
			"1: notification thread/status/changed notLoaded", "2: notification thread/status/changed notLoaded",
			"3: notification thread/status/changed notLoaded",
			"1: notification thread/archived", "2: notification thread/archived", "3: notification thread/archived",
			"1: notification thread/archivedAndNewCreated", "2: notification thread/archivedAndNewCreated",
			"3: notification thread/archivedAndNewCreated",
		}, withoutOpening(r.diary.read()))
		require.Equal(t, id, got.Get("archivedThreadId").Str)
		require.Equal(t, fresh, got.Get("thread.id").Str)
		require.Equal(t, "idle", got.Get("thread.status.type").Str)
		require.Equal(t, gjson.Null, got.Get("thread.name").Type)
		require.Equal(t, []string{fresh}, r.loaded())

		after := r.metaOf(fresh)
		for _, member := range []string{"cwd", "thread_source", "model_provider", "base_instructions.text", "history_mode",
			"source"} {
			require.Equal(t, before.Get(member).Raw, after.Get(member).Raw, member)
		}
		require.Empty(t, r.items(fresh))
		r.turn(2, fresh, "say more")
		for conn := range uint64(3) {
			require.Contains(t, r.ends(conn+1), "completed", "subscriber %d", conn+1)
		}
		prompts := r.agent.asked()
		last := prompts[len(prompts)-1]
		require.Equal(t, []string{"model-2", "high", "flex"}, []string{last.Model, last.Effort, last.ServiceTier})
		require.Equal(t, prompts[0].Instructions, last.Instructions)
		require.Equal(t, "old", r.ask(1, read(id)).Get("thread.name").Str)
		r.requireKept(id)
		r.requireKept(fresh)
	})
}

// withoutOpening leaves out the syncs of what was written before.
func withoutOpening(lines []string) []string {
	for i, line := range lines {
		if strings.HasPrefix(line, "disk takes session_meta") {
			lines = lines[i:]
			break
		}
	}
	var kept []string
	for i, line := range lines {
		if i < 2 || !strings.HasPrefix(line, "disk ") {
			kept = append(kept, line)
		}
	}
	return kept
}

// TestInstructionsAreInherited has instructions that the client gave when it resumed the thread.
func TestInstructionsAreInherited(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.ask(1, resumeWith(protocol.ThreadResumeParams{ThreadID: id, BaseInstructions: new("base"),
			DeveloperInstructions: new("developer")}))
		r.ask(1, archiveAndNew(id, new(fresh)))
		require.Equal(t, "base", r.metaOf(fresh).Get("base_instructions.text").Str)
		r.leaveAndResume(fresh)
		r.turn(1, fresh, "say more")
		require.Equal(t, "base\n\ndeveloper", r.agent.asked()[1].Instructions)
	})
}

func TestSuccessorOfAStoredThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.diary.read()
		got := r.ask(1, archiveAndNew(id, nil))
		next := got.Get("thread.id").Str
		require.Equal(t, []string{
			"1: response thread/archiveAndNew", "1: notification thread/started", "1: notification thread/archived",
			"1: notification thread/archivedAndNewCreated",
		}, withoutOpening(r.diary.read())[2:])
		require.Equal(t, []string{next}, r.loaded())
		require.Equal(t, protocol.KindThreadArchived, r.rejected(1, resume(id)))
		r.turn(1, next, "say more")
		require.Equal(t, []string{"completed"}, r.ends(1))
		empty := r.ask(1, archiveAndNew(r.begin(1), nil)).Get("thread.id").Str
		require.ElementsMatch(t, []string{next, empty}, r.loaded(), "a thread without a turn has a place too")
	})
}

func TestSuccessorWithATakenIDIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		stored, id := r.stored("say hello"), r.begin(1)
		archived := r.begin(1)
		r.ask(1, archive(archived))
		for _, taken := range []string{stored, id, archived} {
			err := r.answer(r.post(1, archiveAndNew(id, &taken))).err
			require.NotNil(t, err)
			require.Equal(t, protocol.CodeInvalidRequest, err.Code)
			require.Equal(t, protocol.KindInvalidRequest, err.Data.Kind)
			require.Equal(t, "newThreadId", err.Data.Field)
		}
		for _, wrong := range []string{"", "x", strings.ToUpper(fresh)} {
			err := r.answer(r.post(1, archiveAndNew(id, &wrong))).err
			require.Equal(t, protocol.CodeInvalidParams, err.Code)
			require.Equal(t, "newThreadId", err.Data.Field)
		}
		require.Equal(t, []string{id}, r.loaded())
		require.Len(t, rolloutsOf(r.mem, ""), 3)
		r.ask(1, archiveAndNew(id, new(fresh)))
	})
}

// TestSuccessorIsRemovedIfTheArchiveFails has a disk on which the old thread cannot be archived once the
// new one was made.
func TestSuccessorIsRemovedIfTheArchiveFails(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for _, id := range []string{r.begin(1), r.stored("say hello")} {
			fault := r.disk.fail(syscall.EIO, faultfs.OpLink)
			require.Equal(t, protocol.KindStorage, r.rejected(1, archiveAndNew(id, new(fresh))))
			fault.heal()
			require.Empty(t, rolloutsOf(r.mem, fresh))
			require.Empty(t, rolloutsOf(worstCrash(r.mem), fresh), "durably")
			require.Empty(t, r.loaded())
			require.Empty(t, r.clients.notices(1, "thread/archived"))
			r.requireKept(id)
			require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, resume(fresh)))
		}
	})
}

func TestEveryDiskOperationOfASuccessionMayFail(t *testing.T) {
	sample.NoRace(t)
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) { sweep(t, f, (*life).succeeded) })
	}
}

func (l *life) succeeded() {
	l.thread = l.insist(start).Get("thread.id").Str
	l.do("run touch a")
	old := l.thread
	l.away(func(string) call { return archiveAndNew(old, nil) })
	for _, m := range l.clients.notices(1, "thread/archivedAndNewCreated") {
		l.thread = m.body.Get("newThreadId").Str
		l.insist(func() call { return resume(l.thread) })
		l.do("run touch b")
	}
	l.checkDurable()
	l.leave()
}
