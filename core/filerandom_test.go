package core_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

// workplace is a disk with files of a thread and its user, and a log of all changes.
type workplace struct {
	*machine
	t      *rapid.T
	disk   map[string]string
	events []fileEvent
	// begun has the number of events at each checkpoint, by its id.
	begun map[string]int
	order []string
}

// fileEvent is a change of a file: by the thread, by a revert, or by the user.
type fileEvent struct {
	path, before, after string
	user                bool
}

var (
	somePaths = rapid.SampledFrom([]string{"a", "b", "d/c"})
	contents  = rapid.SampledFrom([]string{"", "1", "2", "3"})
)

// TestRevertRestoresChangedFiles compares reverts with the log. Each file that the thread changed
// gets its old content. Others keep theirs. If the user changed a file in between, nothing changes.
// Crashes make no difference.
func TestRevertRestoresChangedFiles(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		w := &workplace{machine: newMachine(t.Fatalf), t: t, disk: map[string]string{"a": "1", "b": "1"},
			begun: map[string]int{}}
		w.world.Tracking = core.Tracking{Worktree: true, Patches: true, Keep: 100}
		w.take(w.start(protocol.HistoryPaginated))
		t.Repeat(map[string]func(*rapid.T){
			"turn": w.turn, "another turn": w.turn, "edit": w.edit, "revert": w.revert, "revert again": w.revert,
			"crash": func(*rapid.T) { w.load() },
			"":      w.check,
		})
	})
}

// set changes a file; "" deletes it.
func (w *workplace) set(path, text string, user bool) protocol.WorktreeChange {
	e := fileEvent{path, w.disk[path], text, user}
	w.events = append(w.events, e)
	if w.disk[path] = text; text == "" {
		delete(w.disk, path)
	}
	return protocol.WorktreeChange{Path: path, Before: holds(e.before), After: holds(e.after)}
}

func (w *workplace) edit(t *rapid.T) {
	w.set(somePaths.Draw(t, "path"), contents.Draw(t, "text"), true)
}

// mostPoints is enough for all overlaps of changes.
const mostPoints = 5

// turn runs some commands; the user may write between them.
func (w *workplace) turn(t *rapid.T) {
	if len(w.order) == mostPoints {
		return // each check of the thread takes longer
	}
	w.take(core.TurnStart{To: w.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID}, Env: w.world})
	id := w.thread.ActiveTurn()
	w.mark(id)
	w.take(core.TreeCaptured{Effect: last[core.CaptureTree](w.machine),
		Tree: protocol.StoredTree{Root: "/repo", Tree: "tree"}})
	for i := range rapid.IntRange(0, 3).Draw(t, "commands") {
		w.take(core.ModelDone{Effect: last[core.ModelRequest](w.machine), Answer: core.Answer{Calls: []core.ToolCall{
			{ID: fmt.Sprintf("%s-%d", id, i), Name: "shell", Arguments: `{"command":"make"}`}}}})
		tool := last[core.RunTool](w.machine)
		changes := map[string]protocol.WorktreeChange{}
		for _, path := range rapid.SliceOfNDistinct(somePaths, 0, 2, rapid.ID).Draw(t, "paths") {
			if text := contents.Draw(t, "text"); text != w.disk[path] {
				changes[path] = w.set(path, text, false)
			}
		}
		tracked := &core.Tracked{Changes: protocol.WorktreeChanges{Root: "/repo"}, Diff: &core.FileDiff{}}
		for _, path := range slices.Sorted(maps.Keys(changes)) {
			tracked.Changes.Changes = append(tracked.Changes.Changes, changes[path])
		}
		w.take(core.ToolDone{Effect: tool, Result: core.ToolResult{ExitCode: new(0)}, Tracked: tracked})
		if rapid.IntRange(0, 3).Draw(t, "meanwhile") == 0 {
			w.edit(t)
		}
	}
	w.take(core.ModelDone{Effect: last[core.ModelRequest](w.machine)})
}

func (w *workplace) mark(id string) {
	w.begun[id] = len(w.events)
	w.order = append(w.order, id)
}

// revert reverts to a checkpoint, unless the log has a conflict.
func (w *workplace) revert(t *rapid.T) {
	if len(w.order) == 0 {
		return
	}
	id := rapid.SampledFrom(w.order).Draw(t, "checkpoint")
	want, broken := w.before(id)
	plan, refusal := w.thread.PlanRevert(id, protocol.RevertFiles, nil)
	if broken {
		require.NotNil(t, refusal)
		require.Equal(t, protocol.KindCheckpointConflict, refusal.Data.Kind)
		return
	}
	require.Nil(t, refusal)
	for _, c := range plan.Changes {
		for _, one := range c.Changes {
			if now := holds(w.disk[one.Path]); now != one.After && now != one.Before {
				return // the conflict is on the disk, not in the thread
			}
		}
	}
	w.ids++
	in := core.RevertTo{To: w.caller(), ID: fmt.Sprintf("id-%d", w.ids), Plan: plan, Keep: 100}
	if len(plan.Changes) > 0 {
		in.Restored = &core.Restored{Trees: []protocol.StoredTree{{Root: "/repo", Tree: "tree"}}}
		w.mark(in.ID)
	}
	for _, c := range plan.Changes {
		for _, one := range c.Changes {
			if w.disk[one.Path] != one.After.Object { // the user has restored it already
				w.events = append(w.events, fileEvent{one.Path, w.disk[one.Path], one.After.Object, true})
			}
			w.disk[one.Path] = one.After.Object
			w.set(one.Path, one.Before.Object, false)
		}
	}
	w.take(in)
	require.Equal(t, want, w.disk)
}

// before returns the expected files after a revert, and reports whether the user wrote to a file
// between two changes of the thread.
func (w *workplace) before(id string) (want map[string]string, broken bool) {
	want = maps.Clone(w.disk)
	for _, path := range []string{"a", "b", "d/c"} {
		var mine []fileEvent
		for _, e := range w.events[w.begun[id]:] {
			if e.path == path && !e.user {
				mine = append(mine, e)
			}
		}
		if len(mine) == 0 || mine[0].before == mine[len(mine)-1].after {
			continue
		}
		for i := range mine[1:] {
			broken = broken || mine[i].after != mine[i+1].before
		}
		if want[path] = mine[0].before; want[path] == "" {
			delete(want, path)
		}
	}
	return want, broken
}

// check compares the net changes with the log.
func (w *workplace) check(t *rapid.T) {
	c, refusal := w.thread.Changed(nil)
	require.Nil(t, refusal)
	first, final := map[string]string{}, map[string]string{}
	for _, e := range w.events {
		if _, known := first[e.path]; !e.user && !known {
			first[e.path] = e.before
		}
		if !e.user {
			final[e.path] = e.after
		}
	}
	got := map[string][2]string{}
	for _, change := range c.Changes {
		for _, one := range change.Changes {
			got[one.Path] = [2]string{one.Before.Object, one.After.Object}
		}
	}
	want := map[string][2]string{}
	for path := range final {
		if first[path] != final[path] {
			want[path] = [2]string{first[path], final[path]}
		}
	}
	require.Equal(t, want, got)
}
