//go:build reference

package interchange

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestReferenceInterchangeCompressed reads and continues threads that the other server has compressed.
func TestReferenceInterchangeCompressed(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for name, run := range map[string]func(x *interchange){
		"threads of ours by us":               func(x *interchange) { x.compressed(x.ours, x.ours, x.reference) },
		"threads of ours by the reference":    func(x *interchange) { x.compressed(x.ours, x.reference, x.ours) },
		"threads of reference by us":          func(x *interchange) { x.compressed(x.reference, x.ours, x.reference) },
		"threads of reference by itself":      func(x *interchange) { x.compressed(x.reference, x.reference, x.ours) },
		"the time of the last compression":    (*interchange).compressedLately,
		"both forms":                          (*interchange).bothForms,
		"a file of several frames":            (*interchange).severalFrames,
		"compressed and moved by each server": (*interchange).compressedAndMoved,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newInterchange(t))
		})
	}
}

// aged sets the time of all rollouts to a month ago, and returns it.
func (x *interchange) aged() time.Time {
	at := time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second)
	for _, path := range x.files() {
		require.NoError(x.t, os.Chtimes(path, at, at))
	}
	return at
}

// stored returns the names of all rollouts in both forms.
func (x *interchange) stored() (names []string) {
	x.t.Helper()
	for _, pattern := range []string{"sessions/*/*/*/rollout-*", "archived_sessions/rollout-*"} {
		paths, err := filepath.Glob(filepath.Join(x.home, pattern))
		require.NoError(x.t, err)
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// compressAll makes a server compress all rollouts.
func (x *interchange) compressAll(c *apptest.Client) {
	x.t.Helper()
	require.JSONEq(x.t, `{}`, string(c.Call("rollout/compress", nil)))
	require.Eventually(x.t, func() bool {
		return !slices.ContainsFunc(x.stored(), func(name string) bool { return strings.HasSuffix(name, ".jsonl") })
	}, 30*time.Second, 10*time.Millisecond)
}

// compressed makes a thread with one server and compresses it by another. A third one lists, reads, searches and
// continues it, and the first one goes on.
func (x *interchange) compressed(make, compress, other func() *apptest.Client) {
	c := make()
	id := x.twoTurns(c)
	want := c.ReadThread(id)
	c.Close()
	at := x.aged()
	c = compress()
	x.compressAll(c)
	c.Close()
	require.Len(x.t, x.stored(), 1)
	info, err := os.Stat(filepath.Join(filepath.Dir(want.Path), x.stored()[0]))
	require.NoError(x.t, err)
	require.True(x.t, info.ModTime().Equal(at), "compression keeps the time")

	c = other()
	require.Equal(x.t, "first", inList(c, id).Preview)
	require.True(x.t, strings.HasSuffix(c.ReadThread(id).Path, ".jsonl"))
	var found struct {
		Data []struct{ Thread struct{ ID string } }
	}
	require.NoError(x.t, json.Unmarshal(c.Call("thread/search", apptest.Object{"searchTerm": "answer to first"}), &found))
	require.Len(x.t, found.Data, 1)
	require.Equal(x.t, id, found.Data[0].Thread.ID)
	require.True(x.t, strings.HasSuffix(x.stored()[0], ".zst"), "reading changes nothing")
	c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Equal(x.t, strings.TrimSuffix(info.Name(), ".zst"), x.stored()[0], "a loaded thread is not compressed")
	c.Turn(id, "third")
	c.Close()

	c = make()
	require.Equal(x.t, "first", inList(c, id).Preview)
	c.CallThread("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, "fourth")
	c.Close()
	for _, start := range []func() *apptest.Client{x.ours, x.reference} {
		c = start()
		c.CallThread("thread/resume", apptest.Object{"threadId": id})
		require.Len(x.t, c.ReadThread(id).Turns, 4)
		c.Close()
	}
}

// compressedLately requires that each server obeys the marker of the other.
func (x *interchange) compressedLately() {
	for _, first := range []bool{true, false} {
		c := x.ours()
		x.twoTurns(c)
		c.Close()
		x.aged()
		servers := []func() *apptest.Client{x.ours, x.reference}
		if first {
			slices.Reverse(servers)
		}
		// It stays open, because a server that ends before its compression does takes its marker back.
		compressing := servers[0]()
		x.compressAll(compressing)
		c = servers[1]()
		id := x.twoTurns(c)
		c.Close()
		x.aged()
		c = servers[1]()
		c.Call("rollout/compress", nil)
		require.Equal(x.t, "first", inList(c, id).Preview)
		c.Close()
		compressing.Close()
		isPlain := func(name string) bool { return strings.HasSuffix(name, ".jsonl") }
		require.True(x.t, slices.ContainsFunc(x.stored(), isPlain),
			"nothing is compressed twice within six hours")
		require.NoError(x.t, os.Remove(filepath.Join(x.home, ".tmp/rollout-compression.lock")))
		require.NoError(x.t, os.RemoveAll(filepath.Join(x.home, "sessions")))
	}
}

// bothForms requires that both servers prefer the plain form.
func (x *interchange) bothForms() {
	c := x.ours()
	id := x.twoTurns(c)
	c.Close()
	path := x.files()[0]
	x.aged()
	c = x.ours()
	x.compressAll(c)
	stored, err := os.ReadFile(path + ".zst")
	require.NoError(x.t, err)
	c.CallThread("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, "third")
	c.Close()
	for _, start := range []func() *apptest.Client{x.reference, x.ours} {
		require.NoError(x.t, os.WriteFile(path+".zst", stored, 0o600))
		c = start()
		c.CallThread("thread/resume", apptest.Object{"threadId": id})
		require.Len(x.t, c.ReadThread(id).Turns, 3)
		c.Close()
	}
}

// severalFrames continues a compressed file to which another program has appended a frame.
func (x *interchange) severalFrames() {
	c := x.ours()
	id := x.twoTurns(c)
	c.Close()
	path := x.files()[0]
	whole, err := os.ReadFile(path)
	require.NoError(x.t, err)
	half := len(whole) / 2
	frames := append(apptest.Zstd(x.t, whole[:half]), apptest.Zstd(x.t, whole[half:])...)
	for _, start := range []func() *apptest.Client{x.reference, x.ours} {
		require.NoError(x.t, os.Remove(path))
		require.NoError(x.t, os.WriteFile(path+".zst", frames, 0o600))
		c = start()
		c.CallThread("thread/resume", apptest.Object{"threadId": id})
		require.Len(x.t, c.ReadThread(id).Turns, 2)
		c.Close()
	}
}

// compressedAndMoved archives a compressed thread with each server and unarchives it with the other.
func (x *interchange) compressedAndMoved() {
	c := x.ours()
	id := x.twoTurns(c)
	c.Close()
	x.aged()
	c = x.ours()
	x.compressAll(c)
	c.Close()
	for _, servers := range [][2]func() *apptest.Client{{x.ours, x.reference}, {x.reference, x.ours}} {
		c = servers[0]()
		c.Call("thread/archive", apptest.Object{"threadId": id})
		c.Close()
		c = servers[1]()
		c.Call("thread/unarchive", apptest.Object{"threadId": id})
		require.Equal(x.t, "first", inList(c, id).Preview)
		c.Close()
		require.Len(x.t, x.stored(), 1)
	}
	c = x.ours()
	c.Call("thread/delete", apptest.Object{"threadId": id})
	c.Close()
	require.Empty(x.t, x.stored())
}
