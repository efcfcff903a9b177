package rollout_test

import (
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

var index = filepath.Join(home, "session_index.jsonl")

func TestTheLastNameWins(t *testing.T) {
	store, mem := memStore()
	names, err := store.Names()
	require.NoError(t, err)
	require.Empty(t, names)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	require.NoError(t, store.AppendName(threadA, "one", at))
	require.NoError(t, store.AppendName(threadB, "<&\n>", at))
	require.NoError(t, store.AppendName(threadA, "two", at))
	names, err = store.Names()
	require.NoError(t, err)
	require.Equal(t, map[string]string{threadA: "two", threadB: "<&\n>"}, names)
	require.Contains(t, get(t, mem, index), `{"id":"`+threadA+`","thread_name":"one","updated_at":"2026-01-02T02:04:05.000006Z"}`+"\n")
	require.Empty(t, mem.Held())
}

func TestBadNameLinesAreSkipped(t *testing.T) {
	store, mem := memStore()
	put(t, mem, index, "\ufeff"+`{"id":"a","thread_name":"A"}`+"\r\n\n?\n[1]\n{}\n"+`{"id":7}`+"\n"+`{"id":"b","thread_name":"B"`)
	require.NoError(t, store.AppendName("c", "C", begin))
	names, err := store.Names()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "A", "c": "C"}, names, "the torn line does not swallow the new one")
}

func TestANameIsRecordedOrNot(t *testing.T) {
	for n := 0; ; n++ {
		mem := faultfs.NewMem(home)
		sound := rollout.NewStore(mem, home)
		require.NoError(t, sound.AppendName(threadA, "old", begin))
		before := get(t, mem, index)
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC, Partial: true})
		if err := rollout.NewStore(disk, home).AppendName(threadA, "new", begin); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.ErrorContains(t, err, home)
			require.Equal(t, before, get(t, mem, index))
			require.NoError(t, sound.AppendName(threadA, "new", begin))
		}
		names, err := sound.Names()
		require.NoError(t, err)
		require.Equal(t, map[string]string{threadA: "new"}, names)
		require.Empty(t, mem.Held())
		if disk.Failures() == 0 {
			require.Greater(t, n, 6)
			return
		}
	}
}

func TestANameWaitsForOtherWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, mem := memStore()
		other, err := mem.Lock(index+".lock", rollout.Exclusive)
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { _ = other.Close() })
		before := time.Now()
		require.NoError(t, store.AppendName(threadA, "x", begin))
		require.GreaterOrEqual(t, time.Since(before), time.Second)
	})
}

func TestANameSurvivesACrash(t *testing.T) {
	store, mem := memStore()
	chance := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"one", "two"} {
		require.NoError(t, store.AppendName(threadA, name, begin))
		for range 20 {
			names, err := rollout.NewStore(mem.CrashClone(chance), home).Names()
			require.NoError(t, err)
			require.Equal(t, map[string]string{threadA: name}, names)
		}
	}
}
