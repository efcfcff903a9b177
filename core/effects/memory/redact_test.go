package memory_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
	"appserver/platform/database"
	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

func hide(word string) func(o *memory.Options) {
	return func(o *memory.Options) {
		o.Redact = func(text string) string { return strings.ReplaceAll(text, word, "[redacted]") }
	}
}

func redact(t testing.TB, s *memory.Store, session string, write bool) int {
	t.Helper()
	n, err := s.Redact(t.Context(), session, write)
	require.NoError(t, err)
	return n
}

// TestAThreadsMemoriesAreRedacted in all files, and nothing else is.
func TestAThreadsMemoriesAreRedacted(t *testing.T) {
	r := newRig(t)
	theirs := row(5, "theirs", "they say quetzalcoatl")
	theirs.SessionID = "s2"
	gone := row(4, "gone", "quetzalcoatl was forgotten")
	r.append(row(1, "quetzalcoatl it is", "a text"), row(2, "two", "say quetzalcoatl loud"), row(3, "three", "nothing"),
		gone, theirs)
	require.Equal(t, "theirs", list(t, r.store)[0], "the database has it")
	r.write("memory.jsonl", r.read("memory.jsonl")+`{"forget":["`+gone.ID()+"\"]}\nquetzalcoatl is no line\n")
	r.write("memory.sqlite"+database.DamagedSuffix, "an old database with quetzalcoatl")
	hide("quetzalcoatl")(&r.options)
	s := r.other()

	before := r.read("memory.jsonl")
	require.Equal(t, 3, redact(t, s, "s1", false))
	require.Equal(t, before, r.read("memory.jsonl"))
	require.Equal(t, 3, redact(t, s, "s1", true))
	require.Equal(t, []string{"theirs", "three", "two", "[redacted] it is"}, list(t, r.store), "the other store, too")
	require.Equal(t, []string{"[redacted] it is", "two"}, search(t, s, "redacted"))
	require.Equal(t, []string{"theirs"}, search(t, s, "quetzalcoatl"))
	require.Contains(t, r.read("memory.jsonl"), "quetzalcoatl is no line", "nobody knows whose it is")
	require.Zero(t, redact(t, s, "s1", true))

	require.Equal(t, 1, redact(t, s, "s2", true))
	r.write("memory.jsonl", strings.ReplaceAll(r.read("memory.jsonl"), "quetzalcoatl is no line\n", ""))
	require.Len(t, list(t, s), 4)
	require.NoError(t, r.store.Close())
	require.NoError(t, s.Close())
	r.requireNowhere("quetzalcoatl")
}

func TestNothingIsMadeToRedactNothing(t *testing.T) {
	r := newRig(t, hide("pssst"))
	require.Zero(t, redact(t, r.store, "s1", true))
	require.NoDirExists(t, r.home)
	r.append(row(1, "one", "text"))
	require.Zero(t, redact(t, r.store, "s1", true))
	require.NoFileExists(t, r.path("memory.sqlite"))
	require.NoError(t, r.store.Close())
	_, err := r.store.Redact(t.Context(), "s1", false)
	require.ErrorIs(t, err, memory.ErrClosed)
}

// TestARedactionIsResumed: whichever operation on the lines fails, none is lost, and another call
// makes an end of it.
func TestARedactionIsResumed(t *testing.T) {
	for n := 0; ; n += sample.Stride(7) {
		r := newRig(t)
		r.append(row(1, "one", "say pssst"), row(2, "two", "nothing"))
		hide("pssst")(&r.options)
		disk := faultfs.Wrap(disk.OS(), faultfs.Fault{First: n, Count: 1, Err: syscall.EIO, Partial: true})
		r.options.Disk = disk
		s := r.other()
		_, err := s.Redact(t.Context(), "s1", true)
		disk.Heal()
		if err != nil {
			require.Subset(t, list(t, s), []string{"one", "two"}, n)
		}
		redact(t, s, "s1", true)
		require.Equal(t, []string{"two", "one"}, list(t, s), n)
		data, readErr := os.ReadFile(r.path("memory.jsonl"))
		require.NoError(t, readErr)
		require.NotContains(t, string(data), "pssst", n)
		if disk.Failures() == 0 {
			require.NoError(t, err)
			return
		}
	}
}
