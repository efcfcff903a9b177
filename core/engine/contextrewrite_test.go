package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestOnlyWhatLacksSomethingIsRewritten checks which edits make a backup.
func TestOnlyWhatLacksSomethingIsRewritten(t *testing.T) {
	for name, c := range map[string]struct {
		edits   func(id, words, output string) []call
		rewrite bool
	}{
		"none":     {func(_, _, _ string) []call { return nil }, false},
		"pinned":   {func(id, words, _ string) []call { return []call{pin(id, words)} }, false},
		"undone":   {func(id, words, _ string) []call { return []call{exclude(id, words), undo(id)} }, false},
		"restored": {func(id, words, _ string) []call { return []call{remove(id, words), restore(id)} }, false},
		"excluded": {func(id, words, _ string) []call { return []call{exclude(id, words)} }, true},
		"deleted":  {func(id, words, _ string) []call { return []call{remove(id, words)} }, true},
		"replaced": {func(id, _, output string) []call { return []call{replace(id, output, "short")} }, true},
		"redone":   {func(id, words, _ string) []call { return []call{exclude(id, words), undo(id), redo(id)} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "run touch a")
				for _, edit := range c.edits(id, r.idOf(id, "run touch a"), r.items(id)[3].Get("id").Str) {
					r.ask(1, edit)
				}
				before, _ := r.files(id)
				r.leave()
				after, backup := r.files(id)
				if !c.rewrite {
					require.Equal(t, before, after)
					require.Empty(t, backup)
					return
				}
				require.Equal(t, before, backup)
				require.NotEqual(t, before, after)
				r.requireKept(id)
			})
		})
	}
}

// TestResumeJoinsTheBackup checks that a rewritten thread is the one that was let go,
// and that other programs read of it what its agent is sent.
func TestResumeJoinsTheBackup(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "run touch a")
		r.turn(1, id, "say secret")
		ids := r.ids(id)
		whole := r.outline(id)
		for _, c := range []call{exclude(id, r.idOf(id, "secret")), remove(id, ids[3]), pin(id, ids[1])} {
			r.ask(1, c)
		}
		for range 3 {
			context, prompt := r.context(id), r.ask(1, getPrompt(id)).Get("messages").Raw
			r.leave()
			main, backup := r.files(id)
			require.NotContains(t, outputsIn(main), "touched a")
			require.Contains(t, outputsIn(backup), "touched")
			require.JSONEq(t, prompt, encode(plain(r, main)))
			r.requireContext(context, id)
			r.ask(1, resume(id))
			r.requireContext(context, id)
			require.Empty(t, r.clients.notices(1, "warning"))
			r.turn(1, id, "say more")
			r.requireKept(id)
		}
		for range 3 {
			r.ask(1, undo(id))
		}
		require.Equal(t, whole, r.outline(id)[:len(whole)])
		for range 3 {
			r.ask(1, redo(id))
		}
		require.Contains(t, r.outline(id), "secret excluded")
	})
}

// outputsIn returns the lines of tools' outputs in a rollout.
func outputsIn(text string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, `"type":"function_call_output"`) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// TestBackupsGrow checks that each rewrite adds to the backup what came since, and takes
// nothing away.
func TestBackupsGrow(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.begin(1)
		r.turn(1, id, "say one")
		r.ask(1, exclude(id, r.idOf(id, "one")))
		backup := ""
		for _, words := range []string{"two", "three", "four"} {
			r.leaveAndResume(id)
			_, grown := r.files(id)
			require.Greater(t, len(grown), len(backup))
			require.True(t, strings.HasPrefix(grown, backup), "what was there stays")
			backup = grown
			r.turn(1, id, "say "+words)
			r.ask(1, exclude(id, r.idOf(id, words)))
		}
		r.leave()
		main, backup := r.files(id)
		require.Equal(t, 4, strings.Count(backup, `"op":"exclude"`))
		require.NotContains(t, encode(plain(r, main)), `"text":"t`)
		require.Len(t, r.outline(id), 1+2*4)
		require.Empty(t, wrongWith(worstCrash(r.mem), id))
	})
}

// TestUnloadedWithoutAWordStays checks that a thread that was resumed and unloaded without a turn is
// not written again.
func TestUnloadedWithoutAWordStays(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		id := r.stored("say hello")
		r.ask(1, exclude(id, r.idOf(id, "hello")))
		main, backup := r.files(id)
		for range 2 {
			r.leaveAndResume(id)
		}
		r.leave()
		again, second := r.files(id)
		require.Equal(t, main, again)
		require.Equal(t, backup, second)
	})
}

// TestRestoreIsWrittenToTheRollout checks that what a restore brings back is in the rollout itself
// when the thread is let go, and that a later edit finds its backup.
func TestRestoreIsWrittenToTheRollout(t *testing.T) {
	for name, from := range map[string]func(string) call{"restore": restore, "from the backup": restoreFromBackup} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				id := r.begin(1)
				r.turn(1, id, "run touch a")
				whole, prompt := r.outline(id), r.ask(1, getPrompt(id)).Get("messages").Raw
				r.ask(1, exclude(id, r.idOf(id, "run touch a")))
				r.ask(1, remove(id, r.ids(id)[2]))
				r.leaveAndResume(id)
				got := r.ask(1, from(id))
				require.EqualValues(t, 3, got.Get("restored").Int())
				require.Equal(t, whole, r.outline(id))
				r.leave()
				main, backup := r.files(id)
				require.True(t, strings.HasPrefix(main, backup))
				require.JSONEq(t, prompt, encode(plain(r, main)))
				require.Equal(t, whole, r.outline(id))
				r.ask(1, restoreFromBackup(id))
				r.ask(1, resume(id))
				r.ask(1, undo(id))
				require.Len(t, r.outline(id), len(whole)-2)
				r.leave()
				require.Len(t, r.outline(id), len(whole)-2)
				r.requireKept(id)
			})
		})
	}
}

// TestRewritesCanBeDisabled checks that the setup can disable rewrites, and that edits still apply.
func TestRewritesCanBeDisabled(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.setup.grows = true
		id := r.begin(1)
		r.turn(1, id, "say secret")
		r.ask(1, exclude(id, r.idOf(id, "say secret"), r.idOf(id, "secret")))
		before, _ := r.files(id)
		context := r.context(id)
		r.leaveAndResume(id)
		main, backup := r.files(id)
		require.Equal(t, before, main)
		require.Empty(t, backup)
		r.requireContext(context, id)
		m := r.answer(r.post(1, restoreFromBackup(id)))
		require.NotNil(t, m.err)
		require.Equal(t, protocol.KindBackupMismatch, m.err.Data.Kind)
		require.Contains(t, m.err.Message, "does not need it")
		r.turn(1, id, "say more")
		require.NotContains(t, r.agent.last(), "secret")
	})
}
