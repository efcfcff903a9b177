package rollout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// forkOf returns a rollout that goes on from another with a line, as the reference implementation
// writes it.
func forkOf(t *testing.T, store *rollout.Store, mem *faultfs.Mem, id, from, meta string, end int) string {
	t.Helper()
	head := fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":%d,"type":"session_meta",`+
		`"payload":{"id":%q,"forked_from_id":%q,%s}}`, end, id, from, meta)
	own := fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":%d,"type":"event_msg","payload":{"n":%d}}`,
		end+1, end+1)
	return put(t, mem, store.PathFor(id, begin), head+"\n"+own+"\n")
}

func TestAForkHasTheLinesOfItsSource(t *testing.T) {
	store, mem := memStore()
	meta := `{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":0,"type":"session_meta","payload":{"id":"` + threadA +
		`"}}` + "\n"
	from := put(t, mem, store.PathFor(threadA, begin), meta)
	require.NoError(t, appendAndClose(t, store, from, nil, linesFrom(1, 6)...))
	path := forkOf(t, store, mem, threadB, threadA, `"forked_from_ordinal_exclusive":4`, 4)

	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3, 5}, ordinals(contents))
	require.Contains(t, string(contents.Lines[0].Payload), threadB)
	require.EqualValues(t, 6, contents.Next)

	log, opened, err := store.Open(path)
	require.NoError(t, err)
	require.Equal(t, payloads(contents.Lines), payloads(opened.Lines))
	require.NoError(t, log.Append(linesFrom(6, 7), true))
	require.NoError(t, log.CloseRewritten(evenOnly))
	contents, err = store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3, 5, 6}, ordinals(contents)[:6], "with its backup")

	const threadC = "0190a6f8-1111-7aaa-8bbb-00000000000f"
	again := forkOf(t, store, mem, threadC, threadB,
		`"history_base":{"thread_id":"`+threadB+`","end_ordinal_exclusive":6}`, 6)
	contents, err = store.Read(again)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3, 5, 7}, ordinals(contents))
}

func TestAForkWithoutItsOrigin(t *testing.T) {
	store, mem := memStore()
	for _, from := range []string{threadA, threadB} { // one that is gone, and itself
		contents, err := store.Read(forkOf(t, store, mem, threadB, from, `"forked_from_ordinal_exclusive":4`, 4))
		require.NoError(t, err)
		require.Equal(t, int64(5), ordinals(contents)[len(ordinals(contents))-1])
		if from == threadA {
			require.True(t, strings.HasPrefix(contents.Damage[0].Reason,
				"the history before it cannot be read: no rollout found"))
			require.NoError(t, mem.Remove(contents.Path))
		}
	}
}
