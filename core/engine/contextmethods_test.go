package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

const unknownThread = "0190a6f8-1111-7aaa-8bbb-00000000000a"

// requireEdits makes each edit, looks at the counts of its answer, and compares the
// thread with its file.
func (r *rig) requireEdits(thread string) {
	r.t.Helper()
	edits := contextEdits(thread, r.ids(thread))
	for i, c := range edits {
		got := r.ask(1, c)
		require.EqualValues(r.t, i+1, got.Get("revision").Int(), c.method)
		for _, count := range []string{"changed", "removed", "restored"} {
			if n := got.Get(count); n.Exists() {
				require.Positive(r.t, n.Int(), c.method)
			}
		}
		require.Zero(r.t, got.Get("ignored").Int())
	}
	require.Len(r.t, r.ask(1, listEdits(thread)).Get("edits").Array(), len(edits)-2, "undo and redo are no entries")
	for _, c := range contextReads(thread) {
		require.EqualValues(r.t, len(edits), cmpRevision(r.ask(1, c).Get("revision").Int(), c.method, len(edits)))
	}
	require.Equal(r.t, []string{"surroundings", "run touch a", "touch a pinned", "touched ", "done"},
		trimmed(r.outline(thread)))
}

// cmpRevision returns the revision. A preview has none.
func cmpRevision(got int64, method string, want int) int64 {
	if method == "context/preview" {
		return int64(want)
	}
	return got
}

// trimmed returns an outline with a short output of the command.
func trimmed(outline []string) []string {
	for i, line := range outline {
		if strings.Contains(line, "touched") {
			outline[i] = "touched "
		}
	}
	return outline
}

func TestContextOfALoadedThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.requireEdits(id)
		require.Equal(t, []string{id}, r.loaded())
		r.requireKept(id)
	})
}

// TestContextOfAStoredThread checks that edits of a thread that is not loaded lock, write, rewrite and
// unload it.
func TestContextOfAStoredThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("run touch a")
		r.requireEdits(id)
		require.Empty(t, r.loaded())
		require.Empty(t, r.mem.Held())
		require.Equal(t, len(contextEdits(id, r.ids(id))), len(r.clients.notices(1, "ContextItems")),
			"the caller receives one for each")
		r.requireKept(id)
	})
}

// TestReadsOfAStoredContext checks that they lock nothing and write nothing, and that
// they work though another process has the thread.
func TestReadsOfAStoredContext(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.ask(1, exclude(id, r.idOf(id, "hello")))
		lock, err := r.mem.Lock(home+"/thread-writer-locks/"+id+".lock", rollout.Exclusive)
		require.NoError(t, err)
		files := r.mem.Files("/")
		var before []string
		for _, path := range files {
			before = append(before, get(t, r, path))
		}
		for _, c := range contextReads(id) {
			r.ask(1, c)
		}
		require.Equal(t, []string{"surroundings", "say hello", "hello excluded"}, r.outline(id))
		require.Equal(t, files, r.mem.Files("/"))
		for i, path := range files {
			require.Equal(t, before[i], get(t, r, path), path)
		}
		for _, c := range contextEdits(id, slices.Repeat(r.ids(id), 2)) {
			to := r.post(1, c)
			time.Sleep(time.Second) // a writer may be dying
			require.Equal(t, protocol.KindThreadLocked, r.rejection(to), c.method)
		}
		require.NoError(t, lock.Close())
		r.ask(1, undo(id))
	})
}

func TestContextOfAnEphemeralThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.ask(1, startWith(protocol.ThreadStartParams{Ephemeral: new(true)})).Get("thread.id").Str
		r.turn(1, id, "run touch a")
		r.requireEdits(id)
		require.Equal(t, protocol.KindBackupMismatch, r.rejected(1, restoreFromBackup(id)))
		require.NoError(t, r.close(grace))
		require.Empty(t, r.mem.Files(home))
	})
}

func TestContextOfNoThread(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		ids := []string{"r1", "r2", "r3", "r4", "r5"}
		for _, c := range slices.Concat(contextReads(unknownThread), contextEdits(unknownThread, ids),
			[]call{restoreFromBackup(unknownThread)}) {
			require.Equal(t, protocol.KindThreadNotFound, r.rejected(1, c), c.method)
		}
		for _, c := range slices.Concat(contextReads("x"), contextEdits("x", ids), []call{restoreFromBackup("x")}) {
			require.Equal(t, protocol.KindInvalidThreadID, r.rejected(1, c), c.method)
		}
		require.Empty(t, r.mem.Held())
		require.Empty(t, r.mem.Files(home))
		require.Empty(t, r.unasked(1))
	})
}

// TestContextAfterClose checks that every request is refused for the reason that is
// true.
func TestContextAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		ids := r.ids(id)
		require.NoError(t, r.close(grace))
		for _, c := range slices.Concat(contextReads(id), contextEdits(id, ids)) {
			require.Equal(t, protocol.KindShuttingDown, r.rejected(1, c), c.method)
		}
	})
}

// TestEditsThatChangeNothing checks that they are answered and notified, and write nothing.
func TestEditsThatChangeNothing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say hello")
		r.diary.read()
		for _, c := range []call{include(id, r.idOf(id, "hello")), exclude(id, "r999"), remove(id), prune(id), restore(id)} {
			require.Zero(t, r.ask(1, c).Get("revision").Int(), c.method)
		}
		require.NotContains(t, fmt.Sprint(r.diary.read()), "disk")
		require.Len(t, r.clients.notices(1, "ContextItems"), 1+5)
		require.Equal(t, protocol.KindNothingToUndo, r.rejected(1, undo(id)))
		require.Equal(t, protocol.KindNothingToRedo, r.rejected(1, redo(id)))
		require.NoError(t, r.close(grace))
		require.Len(t, rolloutsOf(r.mem, id), 1, "nothing is out: there is no backup")
	})
}
