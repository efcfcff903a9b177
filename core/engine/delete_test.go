package engine_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout/faultfs"
)

func deleteThread(thread string) call {
	p := &protocol.ThreadDeleteParams{ThreadID: thread}
	return call{"thread/delete", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ThreadDelete(to, p) }}
}

func updateBranch(thread, branch string) call {
	p := &protocol.ThreadMetadataUpdateParams{ThreadID: thread,
		GitInfo: &protocol.ThreadMetadataGitInfoUpdateParams{Branch: &branch}}
	return call{"thread/metadata/update", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadMetadataUpdate(to, p) }}
}

func revert(thread, turn string) call {
	p := &protocol.ThreadRevertParams{ThreadID: thread, BeforeTurnID: turn}
	return call{"thread/revert", thread, func(e *engine.Engine, to protocol.Caller) error { return e.ThreadRevert(to, p) }}
}

func TestDeleteALoadedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.ask(2, resume(id))
		r.diary.read()
		r.clients.onMessage(func(m message) {
			if m.method == "thread/delete" || m.method == "thread/deleted" {
				require.Empty(t, rolloutsOf(worstCrash(r.mem), id), "a crash now does not bring it back")
			}
		})
		r.ask(3, deleteThread(id))
		require.Equal(t, []string{
			"1: notification thread/status/changed notLoaded", "2: notification thread/status/changed notLoaded",
			"3: notification thread/status/changed notLoaded",
			"3: response thread/delete",
			"1: notification thread/deleted", "2: notification thread/deleted", "3: notification thread/deleted",
		}, r.diary.read())
		require.Empty(t, r.loaded())
		require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, resume(id)))
	})
}

// TestAFailedDeletionIsReported has a disk that removes nothing: the thread is closed, and
// can be resumed.
func TestAFailedDeletionIsReported(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		fault := r.disk.fail(syscall.EIO, faultfs.OpRemove)
		require.Equal(t, protocol.KindStorage, r.rejected(2, deleteThread(id)))
		fault.heal()
		require.Len(t, r.clients.notices(1, "thread/closed"), 1)
		r.ask(1, resume(id))
		r.requireKept(id)
		r.turn(1, id, "say more")
	})
}

// TestRevertedTurnsAreGoneFromTheFile has the thread unloaded, and loaded again.
func TestRevertedTurnsAreGoneFromTheFile(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		second := r.turn(1, id, "say secret")
		r.ask(1, updateBranch(id, "main"))
		r.ask(1, revert(id, second))
		want := r.context(id)
		r.requireAfterCrashes(id, want)
		r.leave()
		main, backup := r.files(id)
		require.NotContains(t, main, "secret")
		require.Contains(t, backup, "secret")
		require.Equal(t, "main", r.ask(1, read(id)).Get("thread.gitInfo.branch").Str)
		r.ask(1, resume(id))
		r.requireContext(want, id)
		r.turn(1, id, "say more")
		require.NotContains(t, r.agent.last(), "secret")
		r.requireKept(id)
	})
}

// TestStoredThreadsAreNotLoadedForLong has them shown as they are after the request.
func TestStoredThreadsAreNotLoadedForLong(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		require.Equal(t, "notLoaded", r.ask(1, updateBranch(id, "main")).Get("thread.status.type").Str)
		require.Empty(t, r.loaded())
		require.Equal(t, "idle", r.ask(1, resume(id)).Get("thread.status.type").Str)
		r.requireKept(id)
	})
}
