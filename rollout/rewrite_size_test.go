package rollout_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

// markerAt returns the offset of the last context_backup line.
func markerAt(main string) int {
	return strings.LastIndexByte(main[:strings.LastIndex(main, `"type":"context_backup"`)], '\n') + 1
}

func TestARewrittenFileNeverGetsShorter(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	next := 1
	for round, p := range []rollout.Projection{evenOnly, evenOnly, nil, evenOnly, nil, nil, evenOnly} {
		log, _, err := store.Open(path)
		require.NoError(t, err)
		require.NoError(t, log.Append(linesFrom(next, next+3), false))
		next += 4 // a marker takes an ordinal
		before := get(t, mem, path)
		require.NoError(t, log.CloseRewritten(p))
		after := get(t, mem, path)
		if after == before {
			continue // it was whole
		}
		require.Equal(t, len(before), markerAt(after), "round %d", round)
		requireInPlace(t, after, get(t, mem, path+".bak"))
	}
}

// requireInPlace checks that the lines of a file are at their places in the full log.
func requireInPlace(t *testing.T, main, full string) {
	t.Helper()
	at := 0
	for line := range strings.Lines(main[:markerAt(main)]) {
		text := strings.TrimRight(line, " \n")
		require.Equal(t, full[at:at+len(text)], text)
		at += len(line)
	}
}

func TestLinesAfterDroppedOnesKeepTheirOrder(t *testing.T) {
	for _, size := range []int{1, 2, 100, 64<<10 - 1, 64 << 10, 64<<10 + 1, 3 << 20} {
		store, mem := memStore()
		out := strings.Repeat("x", max(0, size-1)) + "\n" // damage, and of any length
		path := put(t, mem, store.PathFor(threadA, begin), metaLine+out+string(encoded(2)))
		require.NoError(t, appendAndClose(t, store, path, evenOnly, line(3)))
		main := get(t, mem, path)
		want := padded(metaLine, size) +
			padded(string(encoded(2)), len(get(t, mem, path+".bak"))-len(metaLine)-size-len(encoded(2)))
		require.Equal(t, want, main[:markerAt(main)], size)
		contents := alone(t, mem, path)
		require.Empty(t, contents.Damage, "spaces are none")
		require.Equal(t, []int64{2}, numbers(contents))
	}
}

func TestLinesThatGetLongerMoveOthersUntilThereIsRoom(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin),
		metaLine+string(encoded(1))+string(encoded(2))+string(encoded(3))+string(encoded(4)))
	longer := func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
		if *line.Ordinal == 1 {
			line.Payload = json.RawMessage(fmt.Sprintf(`{"n":1,"text":%q}`, strings.Repeat("x", 80)))
		}
		return line, *line.Ordinal != 3
	}
	require.NoError(t, appendAndClose(t, store, path, longer, line(5)))
	main, full := get(t, mem, path), get(t, mem, path+".bak")
	text := func(n int) string { return strings.TrimSpace(string(encoded(n))) }
	require.Equal(t, []int64{1, 2, 4, 5}, numbers(alone(t, mem, path)))
	require.Greater(t, strings.Index(main, text(2)), strings.Index(full, text(2)))
	require.Equal(t, strings.Index(full, text(4)), strings.Index(main, text(4)))
	require.Equal(t, len(full), markerAt(main))
}

func TestAFileThatGotLongerStaysAsLongWhenItIsMadeWhole(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	longer := func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
		line.Payload = json.RawMessage(`"` + strings.Repeat("x", 500) + `"`)
		return line, true
	}
	require.NoError(t, appendAndClose(t, store, path, longer, linesFrom(1, 4)...))
	main, full := get(t, mem, path), get(t, mem, path+".bak")
	require.Greater(t, markerAt(main), len(full))
	require.NotContains(t, main, " \n")
	require.NoError(t, appendAndClose(t, store, path, nil, line(5)))
	whole := get(t, mem, path)
	_, marker := cutMarker(t, main)
	require.Equal(t, full+blanks(markerAt(main)-len(full))+marker+string(encoded(5)), whole[:markerAt(whole)])
	require.Equal(t, len(main)+len(encoded(5)), markerAt(whole), "what was behind the first marker stands where it stood")
	require.Equal(t, whole[:markerAt(whole)], get(t, mem, path+".bak"))
	require.NoError(t, store.CheckBackup(path))
	require.NoError(t, appendAndClose(t, store, path, evenOnly, line(7)))
	require.Equal(t, []int64{2}, numbers(alone(t, mem, path)))
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 5, 7}, numbers(contents))
	require.Empty(t, contents.Damage)
}
