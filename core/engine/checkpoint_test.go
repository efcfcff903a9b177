package engine_test

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/faultfs"
)

// inFolder returns a rig whose threads work in a folder.
func inFolder(t *testing.T, test func(t *testing.T, r *rig, f *folder)) {
	t.Helper()
	bubble(t, func(t *testing.T, r *rig) { test(t, r, r.workInFolder()) })
}

func (r *rig) workInFolder() *folder {
	f := newFolder()
	r.folder = f
	r.setup.tracking = core.Tracking{Worktree: true, Patches: true, Keep: 3}
	r.restart()
	return f
}

func idsOf(page gjson.Result) []string {
	ids := []string{}
	for _, c := range page.Get("data").Array() {
		ids = append(ids, c.Get("id").Str)
	}
	return ids
}

// changing gives a thread a turn whose command changes files.
func (r *rig) changing(f *folder, thread string, files map[string]string) (turn string) {
	r.t.Helper()
	f.edits = append(f.edits, files)
	return r.turn(1, thread, "run touch x")
}

func TestACommandWaitsForTheCheckpoint(t *testing.T) {
	inFolder(t, func(t *testing.T, r *rig, f *folder) {
		f.hold = make(chan struct{})
		id := r.begin(1)
		r.turn(1, id, "say x")
		require.Equal(t, []string{"completed"}, r.ends(1), "the end of a turn waits for no checkpoint")
		turn := r.turn(1, id, "run touch x")
		synctest.Wait()
		require.Empty(t, r.agent.ran())
		close(f.hold)
		synctest.Wait()
		require.Equal(t, []string{"touch x"}, r.agent.ran())
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		require.Equal(t, turn, idsOf(r.ask(1, checkpoints(id)))[0])
		r.requireKept(id)
	})
}

func TestATurnWithoutACheckpointContinues(t *testing.T) {
	inFolder(t, func(t *testing.T, r *rig, f *folder) {
		f.err = errTooLarge
		id := r.begin(1)
		r.turn(1, id, "run touch x")
		r.turn(1, id, "run touch x")
		require.Equal(t, []string{"completed", "completed"}, r.ends(1))
		require.Len(t, r.clients.notices(1, "warning"), 1)
		require.Contains(t, r.clients.notices(1, "warning")[0].body.Get("message").Str, errTooLarge.Error())
		require.Empty(t, idsOf(r.ask(1, checkpoints(id))))
	})
}

func TestACheckpointThatIsBeingMadeHoldsUpNoEnd(t *testing.T) {
	inFolder(t, func(t *testing.T, r *rig, f *folder) {
		f.hold = make(chan struct{})
		id := r.begin(1)
		r.turn(1, id, "run touch x")
		r.ask(1, interrupt(id, ""))
		require.Equal(t, []string{"interrupted"}, r.ends(1))
		require.NoError(t, r.close(time.Second))
		require.Empty(t, r.agent.ran())
	})
}

// TestRevertFiles checks that what a revert has answered is on the disk, for loaded and for
// stored threads, and that it can be taken back.
func TestRevertFiles(t *testing.T) {
	inFolder(t, func(t *testing.T, r *rig, f *folder) {
		f.edit(map[string]string{"a": "mine", "b": "mine"})
		id := r.begin(1)
		first := r.changing(f, id, map[string]string{"a": "1"})
		f.edit(map[string]string{"b": "mine, too"})
		second := r.changing(f, id, map[string]string{"a": "2", "c": "new"})
		require.Equal(t, "a: 1 -> 2\nc:  -> new\n", r.clients.notices(1, "turn/diff/updated")[1].body.Get("diff").Str)
		require.Len(t, r.clients.notices(1, "turn/completed")[1].body.Get("metadata.diff.files").Array(), 2)
		require.Equal(t, "a: mine -> 2\nc:  -> new\n", r.ask(1, readDiff(id)).Get("diff").Str)
		require.Equal(t, "a: mine -> 2\nb: mine -> mine, too\nc:  -> new\n",
			r.ask(1, checkpointDiff(protocol.ThreadCheckpointDiffParams{ThreadID: id, TurnID: first})).Get("diff").Str)
		require.Equal(t, "a: mine -> 1\nb: mine -> mine, too\n",
			r.ask(1, checkpointDiff(protocol.ThreadCheckpointDiffParams{ThreadID: id, TurnID: first,
				ToTurnID: &second})).Get("diff").Str)

		dry := r.ask(1, revertTo(id, first, protocol.RevertBoth, true))
		require.Equal(t, "a: 2 -> mine\nc: new -> \n", dry.Get("diff").Str)
		require.Len(t, dry.Get("removedTurnIds").Array(), 2)
		require.Equal(t, map[string]string{"a": "2", "b": "mine, too", "c": "new"}, f.now())

		undo := r.ask(1, revertTo(id, first, protocol.RevertFiles, false)).Get("undoCheckpointId").Str
		require.Equal(t, map[string]string{"a": "mine", "b": "mine, too"}, f.now())
		require.Empty(t, r.ask(1, readDiff(id)).Get("diff").Str)
		r.requireKept(id)

		crashed := r.afterCrash()
		crashed.folder = f
		crashed.restart()
		require.Equal(t, []string{undo, second, first}, idsOf(crashed.ask(1, checkpoints(id))))
		crashed.ask(1, revertTo(id, undo, protocol.RevertFiles, false))
		require.Equal(t, map[string]string{"a": "2", "b": "mine, too", "c": "new"}, f.now())
		require.Len(t, idsOf(crashed.ask(1, checkpoints(id))), 3, "the oldest one has gone")
		crashed.ask(1, resume(id))
		crashed.ask(1, revertTo(id, second, protocol.RevertBoth, false))
		require.Equal(t, map[string]string{"a": "1", "b": "mine, too"}, f.now())
		require.Len(t, crashed.ask(1, read(id)).Get("thread.turns").Array(), 1)
		require.Len(t, crashed.clients.notices(1, "thread/reverted"), 1)
		require.Len(t, f.kept(), 3)
	})
}

func TestARevertIsRefused(t *testing.T) {
	inFolder(t, func(t *testing.T, r *rig, f *folder) {
		id := r.begin(1)
		turn := r.changing(f, id, map[string]string{"a": "1", "b": "1"})
		f.edit(map[string]string{"a": "mine"})
		for _, dry := range []bool{true, false} {
			m := r.answer(r.post(1, revertTo(id, turn, protocol.RevertBoth, dry)))
			require.Equal(t, protocol.KindCheckpointConflict, m.err.Data.Kind)
			require.Equal(t, []string{"/repo/a"}, m.err.Data.Paths)
		}
		require.Equal(t, protocol.KindCheckpointNotFound, r.rejected(1, revertTo(id, "no", protocol.RevertFiles, false)))
		require.Equal(t, protocol.KindTurnNotFound, r.rejected(1, revertTo(id, "no", protocol.RevertConversation, false)))
		require.Equal(t, protocol.KindTurnNotFound, r.rejected(1, revertTo(id, "no", protocol.RevertBoth, false)))
		require.Equal(t, protocol.KindCheckpointNotFound,
			r.rejected(1, checkpointDiff(protocol.ThreadCheckpointDiffParams{ThreadID: id, TurnID: "no"})))
		f.err = errTooLarge
		require.Equal(t, protocol.KindWorktree, r.rejected(1, revertTo(id, turn, protocol.RevertFiles, false)))
		f.err = nil
		require.Equal(t, map[string]string{"a": "mine", "b": "1"}, f.now())
		require.Equal(t, []string{turn}, idsOf(r.ask(1, checkpoints(id))))

		running := r.turn(1, id, "hang")
		require.Equal(t, protocol.KindTurnActive, r.rejected(1, revertTo(id, turn, protocol.RevertFiles, false)))
		require.NotEmpty(t, running)
		r.ask(1, interrupt(id, ""))

		r.ask(1, archive(id))
		require.Equal(t, protocol.KindThreadArchived, r.rejected(1, revertTo(id, turn, protocol.RevertFiles, false)))
		require.Contains(t, idsOf(r.ask(1, checkpoints(id))), turn)
		require.NotEmpty(t, r.ask(1,
			checkpointDiff(protocol.ThreadCheckpointDiffParams{ThreadID: id, TurnID: turn})).Get("diff").Str)

		r.setup.tracking = core.Tracking{Patches: true}
		require.Empty(t, idsOf(r.ask(1, checkpoints(id))))
		r.ask(1, unarchive(id))
		require.Equal(t, protocol.KindCheckpointsOff, r.rejected(1, revertTo(id, turn, protocol.RevertFiles, false)))
	})
}

// TestARevertOnAFullDisk checks that a revert whose lines are lost can be made again.
func TestARevertOnAFullDisk(t *testing.T) {
	lost := 0
	for n, done := 0, false; !done; n++ {
		fault := faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite, faultfs.OpSync}, First: n, Count: 1, Err: syscall.ENOSPC}
		bubbleOn(t, fault, func(t *testing.T, r *rig, disk *faultfs.Disk) {
			f := r.workInFolder()
			begun := r.answer(r.post(1, start()))
			id := begun.body.Get("thread.id").Str
			f.edits = append(f.edits, map[string]string{"a": "1"})
			turn := r.answer(r.post(1, turn(id, "run touch x"))).body.Get("turn.id").Str
			if disk.Failures() > 0 || begun.err != nil {
				return // not the revert's
			}
			m := r.answer(r.post(1, revertTo(id, turn, protocol.RevertBoth, false)))
			require.Empty(t, f.now())
			if m.err != nil {
				lost++
				require.Equal(t, protocol.KindStorage, m.err.Data.Kind)
				require.Len(t, r.ask(1, read(id)).Get("thread.turns").Array(), 1)
				r.ask(1, revertTo(id, turn, protocol.RevertBoth, false))
			}
			require.Empty(t, r.ask(1, read(id)).Get("thread.turns").Array())
			require.Empty(t, f.now())
			r.requireKept(id)
			done = disk.Failures() == 0
		})
	}
	require.Positive(t, lost)
}

func TestCheckpointsOfForksAndOfDeletedThreads(t *testing.T) {
	inFolder(t, func(t *testing.T, r *rig, f *folder) {
		id := r.begin(1)
		turn := r.changing(f, id, map[string]string{"a": "1"})
		copied := r.ask(1, fork(id)).Get("thread.id").Str
		require.Equal(t, []string{turn}, idsOf(r.ask(1, checkpoints(copied))))
		require.Equal(t, []string{id + "/" + turn, copied + "/" + turn}, f.kept())
		r.ask(1, revertTo(copied, turn, protocol.RevertBoth, false))
		require.Empty(t, f.now())

		other := r.begin(1)
		f.keep(other, "a turn")
		r.ask(1, deleteThread(other))
		require.NotContains(t, f.kept(), other+"/a turn")
	})
}
