package home_test

import (
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/home"
)

var index = filepath.Join(dir, "session_index.jsonl")

func TestTheLastNameIsValid(t *testing.T) {
	h, mem := memHome()
	names, err := h.Names()
	require.NoError(t, err)
	require.Empty(t, names)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	require.NoError(t, h.AppendName(threadA, "one", at))
	require.NoError(t, h.AppendName(threadB, "<&\n>", at))
	require.NoError(t, h.AppendName(threadA, "two", at))
	names, err = h.Names()
	require.NoError(t, err)
	require.Equal(t, map[string]string{threadA: "two", threadB: "<&\n>"}, names)
	require.Contains(
		t,
		get(t, mem, index),
		`{"id":"`+threadA+`","thread_name":"one","updated_at":"2026-01-02T02:04:05.000006Z"}`+"\n",
	)
	require.Empty(t, mem.Held())
}

func TestBadNameLinesAreSkipped(t *testing.T) {
	h, mem := memHome()
	put(
		t,
		mem,
		index,
		"\ufeff"+`{"id":"a","thread_name":"A"}`+"\r\n\n?\n[1]\n{}\n"+`{"id":7}`+"\n"+`{"id":"b","thread_name":"B"`,
	)
	require.NoError(t, h.AppendName("c", "C", begin))
	names, err := h.Names()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "A", "c": "C"}, names, "the torn line does not damage the new one")
}

func TestANameIsRecordedOrNot(t *testing.T) {
	for n := 0; ; n++ {
		mem := faultfs.NewMem(dir)
		sound := home.New(mem, dir, nil)
		require.NoError(t, sound.AppendName(threadA, "old", begin))
		before := get(t, mem, index)
		files := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC, Partial: true})
		if err := home.New(files, dir, nil).AppendName(threadA, "new", begin); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.ErrorContains(t, err, dir)
			require.Equal(t, before, get(t, mem, index))
			require.NoError(t, sound.AppendName(threadA, "new", begin))
		}
		names, err := sound.Names()
		require.NoError(t, err)
		require.Equal(t, map[string]string{threadA: "new"}, names)
		require.Empty(t, mem.Held())
		if files.Failures() == 0 {
			require.Greater(t, n, 6)
			return
		}
	}
}

func TestANameWaitsForOtherWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, mem := memHome()
		other, err := mem.Lock(index+".lock", disk.Exclusive)
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { _ = other.Close() })
		before := time.Now()
		require.NoError(t, h.AppendName(threadA, "x", begin))
		require.GreaterOrEqual(t, time.Since(before), time.Second)
	})
}

func TestANameSurvivesACrash(t *testing.T) {
	h, mem := memHome()
	chance := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"one", "two"} {
		require.NoError(t, h.AppendName(threadA, name, begin))
		for range 20 {
			names, err := home.New(mem.CrashClone(chance), dir, nil).Names()
			require.NoError(t, err)
			require.Equal(t, map[string]string{threadA: name}, names)
		}
	}
}
