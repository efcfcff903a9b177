package host_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/sample"
)

// watched does something, and looks again and again meanwhile for the most that look sees.
func watched(do func(), look func() int) (most int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			most = max(most, look())
		case <-done:
			return most
		}
	}
}

// longNames returns a folder with files whose names take room.
func longNames(t *testing.T, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(strings.Repeat("x", 230), i))
	}
	return project(t, list...)
}

// TestFewSearchesWalkAtOnce: each holds what it has found, and clients that name no token have
// one for each letter that is typed.
func TestFewSearchesWalkAtOnce(t *testing.T) {
	d := open(t)
	roots := slices.Repeat([]string{longNames(t, 100)}, 64)
	stacks := make([]byte, 4<<20)
	most := watched(func() {
		var all []pending
		for range 20 {
			all = append(all, d.send(1, "fuzzyFileSearch", object{"query": "x99", "roots": roots}))
		}
		for _, p := range all {
			require.Len(t, result[protocol.FuzzyFileSearchResponse](p).Files, 50, "each is answered")
		}
	}, func() int { return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "find.(*Finder).Walk(") })
	require.Positive(t, most)
	require.LessOrEqual(t, most, 4)
}

// TestASearchHoldsOneRoot at a time, however many it has.
func TestASearchHoldsOneRoot(t *testing.T) {
	sample.Long(t)
	d := open(t)
	root := longNames(t, 2000)
	heap := func() int {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	runtime.GC()
	before := heap()
	most := watched(func() { d.find("zzz", slices.Repeat([]string{root}, 64)...) }, heap)
	require.Less(t, most-before, 25<<20, "64 times 2,000 names of 240 bytes are 30 MB, and as much garbage")
}

// TestASearchThatWaitsCanBeEnded without those before it.
func TestASearchThatWaitsCanBeEnded(t *testing.T) {
	d := open(t)
	for range 8 {
		d.send(1, "fuzzyFileSearch", object{"query": "x", "roots": []string{"/"}})
	}
	waits := d.send(1, "fuzzyFileSearch", object{"query": "x", "roots": []string{"/"}, "cancellationToken": "t"})
	d.send(1, "fuzzyFileSearch", object{"query": "", "roots": []string{}, "cancellationToken": "t"})
	require.Empty(t, result[protocol.FuzzyFileSearchResponse](waits).Files)
}

// TestWrittenContentIsReleased: nothing holds the content of a file, or what a command was sent,
// once the answer has come.
func TestWrittenContentIsReleased(t *testing.T) {
	const size = 12 << 20
	d := staged(t, waits())
	d.exec(object{"processId": "p", "streamStdin": true})
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	d.send(1, "fs/writeFile",
		object{"path": filepath.Join(t.TempDir(), "f"), "dataBase64": in64(strings.Repeat("x", size))}).done()
	require.Eventually(t, func() bool { return heap()-before < size/2 }, patience, 10*time.Millisecond, "a file")
	d.send(1, "command/exec/write",
		object{"processId": "p", "deltaBase64": in64(strings.Repeat("x", size))}).refused(protocol.KindCommand)
	require.Eventually(t, func() bool { return heap()-before < size/2 }, patience, 10*time.Millisecond, "input")
}

// TestWritesThatWaitAreBounded: a client sends files faster than they are written. What is not
// taken is refused, and the files before it are whole.
func TestWritesThatWaitAreBounded(t *testing.T) {
	sample.Long(t)
	d, dir := open(t), t.TempDir()
	content := strings.Repeat("x", 12<<20)
	resume := d.stopReading()
	var all []pending
	for i := range 12 {
		all = append(all, d.send(1, "fs/writeFile",
			object{"path": filepath.Join(dir, fmt.Sprint(i)), "dataBase64": in64(content)}))
	}
	require.Contains(t, all[11].refused(protocol.KindOverloaded), "wait for the answers to fs/writeFile")
	require.True(t, all[0].open())
	other := d.send(2, "fs/writeFile", object{"path": filepath.Join(dir, "other"), "dataBase64": in64(content)})
	resume()
	other.done()
	for i, p := range all[:11] {
		path := filepath.Join(dir, fmt.Sprint(i))
		if i < 5 {
			p.done()
			require.Equal(t, content, read(t, path))
		} else {
			p.refused(protocol.KindOverloaded)
			require.NoFileExists(t, path)
		}
	}
	largest := strings.Repeat("x", 48<<20)
	d.send(1, "fs/writeFile", object{"path": filepath.Join(dir, "largest"), "dataBase64": in64(largest)}).done()
	d.send(1, "fs/writeFile", object{"path": filepath.Join(dir, "largest"), "dataBase64": in64(largest)}).done()
}
