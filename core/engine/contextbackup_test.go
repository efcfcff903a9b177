package engine_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/faultfs"
)

// TestUnusableBackups checks that a thread without the right backup can be used
// with what its rollout has, that the client is warned, and that neither file is
// touched by a rewrite; and that all is there again once the backup is.
func TestUnusableBackups(t *testing.T) {
	for name, spoil := range map[string]func(r *rig, path, backup string){
		"missing": func(r *rig, path, _ string) { require.NoError(r.t, r.mem.Remove(path)) },
		"shorter": func(r *rig, path, backup string) { overwrite(r.t, r, path, backup[:len(backup)/2]) },
		"altered": func(r *rig, path, backup string) {
			overwrite(r.t, r, path, strings.Replace(backup, "secret", "sacred", 1))
		},
		"no text":   func(r *rig, path, backup string) { overwrite(r.t, r, path, strings.Repeat("\x00", len(backup))) },
		"another's": func(r *rig, path, _ string) { overwrite(r.t, r, path, r.anothers()) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "say secret")
				r.turn(1, id, "run touch a")
				r.ask(1, exclude(id, r.idOf(id, "secret")))
				r.leave()
				main, backup := r.files(id)
				context := r.context(id)
				path := rolloutsOf(r.mem, id)[1]
				spoil(r, path, backup)
				r.requireUsableWithout(id, main)
				if len(rolloutsOf(r.mem, id)) == 2 {
					require.NoError(t, r.mem.Remove(path))
				}
				put(t, r, path, backup)
				r.ask(1, resume(id))
				require.Empty(t, r.clients.notices(1, "warning"))
				r.ask(1, undo(id))
				require.Equal(t, texts(itemsOf(context), "preview"), texts(r.items(id), "preview")[:5+2])
				r.ask(1, restoreFromBackup(id))
				r.requireKept(id)
			})
		})
	}
}

// requireUsableWithout uses a thread whose rollout is rewritten and whose backup is
// not the right one.
func (r *rig) requireUsableWithout(id, main string) {
	r.t.Helper()
	r.ask(1, resume(id))
	warnings := r.clients.notices(1, "warning")
	require.Len(r.t, warnings, 1)
	require.Contains(r.t, warnings[0].body.Get("message").Str, ".bak ")
	require.Equal(r.t, []string{"surroundings", "say secret", "run touch a"}, r.outline(id)[:3])
	for range 2 {
		require.Equal(r.t, protocol.KindBackupMismatch, r.rejected(1, restoreFromBackup(id)))
		require.Equal(r.t, protocol.KindBackupMismatch, r.rejected(1, restore(id)))
		r.turn(1, id, "say more")
		require.NotContains(r.t, r.agent.last(), `"text":"secret"`)
		r.ask(1, exclude(id, r.idOf(id, "say secret")))
		before := rolloutsOf(r.mem, id)
		_, spoilt := r.files(id)
		r.leaveAndResume(id)
		grown, after := r.files(id)
		require.True(r.t, strings.HasPrefix(grown, main))
		require.Equal(r.t, spoilt, after)
		require.Equal(r.t, before, rolloutsOf(r.mem, id))
		require.Contains(r.t, r.outline(id), "say secret excluded")
		r.ask(1, undo(id))
	}
	ids := r.ids(id)
	r.leave()
	for _, c := range slices.Concat(contextReads(id), contextEdits(id, ids), []call{restoreFromBackup(id)}) {
		require.Equal(r.t, protocol.KindBackupMismatch, r.rejected(1, c), "a stored thread's list is not shown in part: %s",
			c.method)
	}
}

// anothers returns the rollout of another thread.
func (r *rig) anothers() string {
	id := r.begin(9)
	r.turn(9, id, "say nothing")
	text, _ := r.files(id)
	return text
}

// TestABackupThatCannotBeRead checks that a thread is not resumed as less than it is
// where reading its backup again, after a failed append, fails.
func TestABackupThatCannotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say secret")
		r.ask(1, exclude(id, r.idOf(id, "secret")))
		r.leaveAndResume(id)
		context := r.context(id)
		full, unread := r.disk.fail(errFull, writes...), r.hideBackups()
		require.Equal(t, protocol.KindStorage, r.rejected(1, setName(id, "n")))
		require.Len(t, r.clients.notices(1, "thread/closed"), 1)
		require.Empty(t, r.loaded())
		full.heal()
		unread.heal()
		r.ask(1, resume(id))
		r.requireContext(context, id)
		r.requireKept(id)
	})
}

// hideBackups makes opening backups fail.
func (r *rig) hideBackups() *fault {
	f := &fault{}
	f.on.Store(true)
	r.disk.add(func(op faultfs.Op, path string) error {
		if f.on.Load() && op == faultfs.OpOpen && strings.HasSuffix(path, ".bak") {
			return syscall.EIO
		}
		return nil
	})
	return f
}

// TestAStoredThreadWhoseBackupCannotBeRead checks that no client receives a part of the context as the
// whole, and that edits by such indices are rejected. A resuming client is warned.
func TestAStoredThreadWhoseBackupCannotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		ids := r.ids(id)
		r.ask(1, exclude(id, ids[1]))
		r.leave()
		context := r.context(id)
		unread := r.hideBackups()
		for _, c := range slices.Concat(contextReads(id), contextEdits(id, ids)) {
			require.Equal(t, protocol.KindRolloutUnreadable, r.rejected(1, c), c.method)
		}
		require.Empty(t, r.mem.Held())
		r.ask(1, read(id))
		unread.heal()
		r.requireContext(context, id)
		unread.on.Store(true)
		r.ask(1, resume(id))
		require.Len(t, r.clients.notices(1, "warning"), 1)
		require.Len(t, r.ids(id), len(ids)-1)
		unread.heal()
		r.leaveAndResume(id)
		r.requireContext(context, id)
	})
}

// TestIdsAfterATornLine checks that announced ids stay with their items, even if a crash after a
// rewrite tore a line.
func TestIdsAfterATornLine(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say secret")
		r.ask(1, exclude(id, r.idOf(id, "say secret")))
		for _, words := range []string{"one", "two"} {
			r.leave()
			put(t, r, rolloutsOf(r.mem, id)[0], `{"timestamp":`)
			r.ask(1, resume(id))
			r.turn(1, id, "say "+words)
			r.requireKept(id)
			r.ask(1, exclude(id, r.idOf(id, words)))
			r.requireKept(id)
		}
		r.leaveAndResume(id)
		require.Equal(t, []string{"surroundings", "say secret excluded", "secret", "say one", "one excluded", "say two",
			"two excluded"}, r.outline(id))
	})
}

// TestABackupPutBackWhileTheThreadIsLoaded checks that a restore from it is refused
// with what helps, and helps.
func TestABackupPutBackWhileTheThreadIsLoaded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say secret")
		r.ask(1, exclude(id, r.idOf(id, "secret")))
		r.leave()
		_, backup := r.files(id)
		path := rolloutsOf(r.mem, id)[1]
		require.NoError(t, r.mem.Remove(path))
		r.ask(1, resume(id))
		put(t, r, path, backup)
		m := r.answer(r.post(1, restoreFromBackup(id)))
		require.NotNil(t, m.err)
		require.Equal(t, protocol.KindBackupMismatch, m.err.Data.Kind)
		require.Contains(t, m.err.Message, "resume the thread and retry")
		r.leaveAndResume(id)
		require.EqualValues(t, 1, r.ask(1, restoreFromBackup(id)).Get("restored").Int())
		r.requireKept(id)
	})
}

// TestABackupThatIsNoneOfAWholeRollout checks that a file that has the backup's name by
// chance is left alone, and the rollout with it.
func TestABackupThatIsNoneOfAWholeRollout(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say secret")
		path := rolloutsOf(r.mem, id)[0] + ".bak"
		put(t, r, path, "the user's own\n")
		r.ask(1, exclude(id, r.idOf(id, "secret")))
		before, _ := r.files(id)
		context := r.context(id)
		require.NoError(t, r.close(grace))
		require.Equal(t, 1, r.logged("closing the rollout failed"))
		require.Contains(t, r.clients.notices(1, "warning")[0].body.Get("message").Str, path, "the warning names the file")
		r.leaveAndResume(id)
		after, others := r.files(id)
		require.Equal(t, before, after)
		require.Equal(t, "the user's own\n", others)
		r.requireContext(context, id)
		require.Empty(t, r.clients.notices(1, "warning"), "nothing is lacking")
		require.Equal(t, protocol.KindBackupMismatch, r.rejected(1, restoreFromBackup(id)))
		require.EqualValues(t, 1, r.ask(1, restore(id)).Get("restored").Int())
		r.requireKept(id)
	})
}

// TestDamageInABackup checks that a warning names the file that is damaged, and that
// the damage outlives rewrites.
func TestDamageInABackup(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say secret")
		r.leave()
		path := rolloutsOf(r.mem, id)[0]
		put(t, r, path, "no JSON\n")
		r.ask(1, resume(id))
		require.Contains(t, r.clients.notices(1, "warning")[0].body.Get("message").Str, path+": line ")
		r.ask(1, exclude(id, r.idOf(id, "secret")))
		for range 2 {
			r.leaveAndResume(id)
			warnings := r.clients.notices(1, "warning")
			require.Len(t, warnings, 1)
			require.Contains(t, warnings[0].body.Get("message").Str, path+".bak: line ")
			_, backup := r.files(id)
			require.Contains(t, backup, "no JSON\n")
			r.turn(1, id, "say more")
		}
	})
}
