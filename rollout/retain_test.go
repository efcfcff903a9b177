package rollout_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

const day = 24 * time.Hour

// aged is a home with threads of different ages.
type aged struct {
	t     *testing.T
	home  string
	store *rollout.Store
	now   time.Time
}

func newAged(t *testing.T) *aged {
	a := &aged{t: t, home: t.TempDir(), now: time.Now()}
	a.store = rollout.NewStore(rollout.OS(), a.home)
	return a
}

// put writes a thread of 100 bytes. letter is the last character of its id, and days its age.
func (a *aged) put(root, letter string, days float64) string {
	a.t.Helper()
	id := threadA[:len(threadA)-1] + letter
	text := strings.ReplaceAll(metaLine, threadA, id)
	return a.putText(root, letter, days, text+strings.Repeat(" ", 200-len(text)-1)+"\n")
}

func (a *aged) putText(root, letter string, days float64, text string) string {
	a.t.Helper()
	path := put(a.t, rollout.OS(),
		filepath.Join(a.home, root, "rollout-2026-01-02T03-04-05-"+threadA[:len(threadA)-1]+letter+".jsonl"), text)
	a.age(path, days)
	return path
}

func (a *aged) age(path string, days float64) {
	a.t.Helper()
	at := a.now.Add(-time.Duration(days * float64(day)))
	require.NoError(a.t, os.Chtimes(path, at, at))
}

// letters returns the last characters of the ids.
func letters(threads []rollout.Candidate) string {
	var all strings.Builder
	for _, r := range threads {
		all.WriteString(r.ID[len(r.ID)-1:])
	}
	return all.String()
}

// rollouts returns the letters of the rollouts of a root.
func (a *aged) rollouts(root string) string {
	a.t.Helper()
	var all strings.Builder
	for _, path := range filesBelow(a.t, filepath.Join(a.home, root)) {
		if stem, ok := strings.CutSuffix(path, ".jsonl"); ok {
			all.WriteString(stem[len(stem)-1:])
		}
	}
	return all.String()
}

func TestRetainLetsTheOldestGo(t *testing.T) {
	for _, c := range []struct {
		name           string
		bounds         rollout.Retention
		gone           string
		open, archived string
		over           int64
	}{
		{"nothing", rollout.Retention{}, "", "bcde", "a", 0},
		{"age", rollout.Retention{MaxAge: 25 * day}, "bc", "de", "abc", 0},
		{"age, deleted", rollout.Retention{MaxAge: 25 * day, Delete: true}, "abc", "de", "", 0},
		{"bytes", rollout.Retention{MaxBytes: 500}, "bc", "de", "abc", 500},
		{"bytes, deleted", rollout.Retention{MaxBytes: 500, Delete: true}, "abc", "de", "", 0},
		{"bytes, deleted, one is enough", rollout.Retention{MaxBytes: 800, Delete: true}, "a", "bcde", "", 0},
		{"both", rollout.Retention{MaxAge: 35 * day, MaxBytes: 799}, "b", "cde", "ab", 201},
		{"all that rests", rollout.Retention{MaxAge: 1, MaxBytes: 1, Delete: true}, "abcd", "e", "", 199},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAged(t)
			a.put("archived_sessions", "a", 50)
			a.put("sessions/2026/01/02", "b", 40)
			a.put("sessions/2026/01/02", "c", 30)
			a.put("sessions/2026/01/02", "d", 20)
			a.put("sessions/2026/01/02", "e", 0.9)
			told := a.store.Retain(t.Context(), c.bounds, a.now, nil)
			require.Equal(t, c.gone, letters(told.Gone))
			require.Equal(t, "a bcde", a.rollouts("archived_sessions")+" "+a.rollouts("sessions"), "it was only told")
			done := a.store.Retain(t.Context(), c.bounds, a.now, a.store.Retire)
			require.Equal(t, told, done)
			require.Empty(t, done.Kept)
			require.Equal(t, c.open, a.rollouts("sessions"))
			require.Equal(t, c.archived, a.rollouts("archived_sessions"))
			require.Equal(t, c.over, done.Over)
			require.Equal(t, len(c.open)+len(c.archived), done.Threads)
			require.Equal(t, int64(200*len(c.archived)), done.ArchivedBytes)
			require.Equal(t, int64(200*(len(c.open)+len(c.archived))), done.Bytes)
			again := a.store.Retain(t.Context(), c.bounds, a.now, a.store.Retire)
			require.Empty(t, again.Gone)
		})
	}
}

// TestRetainDeletesNothingThatItCannotRead checks other files that are kept as well.
func TestRetainDeletesNothingThatItCannotRead(t *testing.T) {
	a := newAged(t)
	a.putText("sessions", "1", 90, "")
	a.putText("sessions", "2", 90, "\x00\x00no line\n")
	a.putText("archived_sessions", "3", 90,
		`{"timestamp":"","ordinal":4,"type":"session_meta","payload":{"id":"`+threadA[:len(threadA)-1]+
			`3","forked_from_id":"`+threadA+`","forked_from_ordinal_exclusive":4}}`+"\n")
	a.age(a.put("sessions", "3", 0), 0)
	a.put("sessions", "a", 80)
	a.put("sessions", "b", 80)
	done := a.store.Retain(t.Context(), rollout.Retention{MaxAge: day, Delete: true}, a.now, a.store.Retire)
	require.Equal(t, "b", letters(done.Gone))
	require.Equal(t, "12a", letters(done.Kept))
	require.Contains(t, done.Kept[0].Kept, "no line of it can be read")
	require.Contains(t, done.Kept[2].Kept, "forked history still references it")
	require.Equal(t, "123a", sortedLetters(a.rollouts("sessions")))
}

func sortedLetters(text string) string {
	letters := strings.Split(text, "")
	slices.Sort(letters)
	return strings.Join(letters, "")
}

// TestRetainKeepsThreadsInUse has an open thread, and threads that are written to after their
// selection.
func TestRetainKeepsThreadsInUse(t *testing.T) {
	for _, remove := range []bool{false, true} {
		a := newAged(t)
		open := a.put("sessions", "1", 90)
		grown := a.put("sessions", "2", 80)
		a.put("sessions", "3", 70)
		log, _, err := a.store.Open(open)
		require.NoError(t, err)
		bounds := rollout.Retention{MaxBytes: 400, Delete: remove}
		done := a.store.Retain(t.Context(), bounds, a.now, func(r rollout.Candidate) error {
			if r.Path == grown {
				a.age(grown, 0)
			}
			return a.store.Retire(r)
		})
		require.Equal(t, "12", letters(done.Kept))
		require.Contains(t, done.Kept[0].Kept, "already has an active writer")
		require.Contains(t, done.Kept[1].Kept, "it was written to meanwhile")
		require.Equal(t, "3", letters(done.Gone), "others go in their place")
		require.Equal(t, "12", a.rollouts("sessions"))
		require.NoError(t, log.Close())
	}
}

func TestRetainCountsAndTakesBackups(t *testing.T) {
	for _, remove := range []bool{false, true} {
		dir := t.TempDir()
		store, path := rewrittenThread(t, rollout.OS(), dir)
		size := len(get(t, rollout.OS(), path)) + len(get(t, rollout.OS(), path+".bak"))
		done := store.Retain(t.Context(), rollout.Retention{MaxBytes: int64(size) - 1, Delete: remove},
			time.Now().Add(2*day), store.Retire)
		require.Len(t, done.Gone, 1)
		require.Equal(t, int64(size), done.Gone[0].Bytes)
		if remove {
			require.Empty(t, filesBelow(t, dir))
			continue
		}
		contents, err := store.Read(filepath.Join(dir, "archived_sessions", filepath.Base(path)))
		require.NoError(t, err)
		require.True(t, contents.Backup.Joined)
	}
}

// TestRetainRecoversFromFaults fails each operation, and crashes after each. A thread is
// complete or deleted, and another call does the rest.
func TestRetainRecoversFromFaults(t *testing.T) {
	for _, remove := range []bool{false, true} {
		for n, hit := 0, true; hit; n++ {
			mem := faultfs.NewMem(home)
			_, path := rewrittenThread(t, mem, home)
			sound := rollout.NewStore(mem, home)
			before, err := sound.Read(path)
			require.NoError(t, err)
			disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.EIO})
			chance := rand.New(rand.NewPCG(uint64(n), 3))
			requireWhole := func(mem *faultfs.Mem) (gone bool) {
				store := rollout.NewStore(mem, home)
				at, err := store.Find(threadA)
				if err != nil {
					return true
				}
				contents, err := store.Read(at)
				require.NoError(t, err)
				require.NoError(t, contents.Backup.Err)
				require.Equal(t, before.Lines, contents.Lines)
				return false
			}
			broken := rollout.NewStore(&watched{FS: disk, then: func() {
				require.False(t, requireWhole(mem.CrashClone(chance)) && !remove, "failing operation %d", n)
			}}, home)
			bounds, later := rollout.Retention{MaxAge: day, Delete: remove}, time.Now().Add(2*day)
			broken.Retain(t.Context(), bounds, later, broken.Retire)
			hit = disk.Failures() > 0
			require.Empty(t, mem.Held())
			sound.Retain(t.Context(), bounds, later, sound.Retire)
			require.Equal(t, remove, requireWhole(mem), "failing operation %d", n)
			for _, left := range rolloutsIn(mem) {
				backup := strings.HasSuffix(left, ".bak") // a backup without a rollout is never read
				require.True(t, backup || !remove && sound.IsArchived(left), "failing operation %d: %s", n, left)
			}
		}
	}
}
