package shared_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// lineCount counts lines, with a snapshot of their number. handled is the number of lines that were read.
type lineCount struct{ all, handled int }

func (c *lineCount) Begin(*rollout.LineReader) rollout.LineHandler {
	*c = lineCount{}
	return c.add
}

func (c *lineCount) Continue(_ *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	return c.add, protocol.Unmarshal(snapshot, &c.all) == nil
}

func (c *lineCount) Snapshot(to io.Writer) error {
	text, err := protocol.Marshal(c.all)
	if err == nil {
		_, err = to.Write(text)
	}
	return err
}

func (c *lineCount) add(*protocol.RolloutLine) {
	c.all++
	c.handled++
}

// TestAChangedCopyWithASnapshotIsFetchedAgain changes the copy of a long thread, of which a snapshot covers all
// lines but the last two.
func TestAChangedCopyWithASnapshotIsFetchedAgain(t *testing.T) {
	node := nodes(t)(t, "here")
	messages := []string{"one", strings.Repeat("x", 3<<20), "three", "four", "five", "six"}
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, messages...), true))
	require.NoError(t, journal.Close())
	load := func() (c lineCount) {
		_, text, err := node.Load(store.Ref{ID: threadID}, &c)
		require.NoError(t, err)
		require.NoError(t, text.Close())
		return c
	}
	require.Equal(t, lineCount{6, 6}, load())
	journal, _, err = node.Open(store.Ref{ID: threadID}, &lineCount{})
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(6, "seven", "eight"), true))
	require.NoError(t, journal.Close())
	paths, err := filepath.Glob(filepath.Join(copiesOf(node), "sessions", "*", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	snapshot := filepath.Join(copiesOf(node), "appserver-cache", threadID)
	sound, cache := content(t, paths[0]), content(t, snapshot)
	require.Equal(t, lineCount{8, 2}, load(), "it is read from the snapshot on")
	lines := bytes.SplitAfter(sound, []byte("\n"))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, changed := range map[string][]byte{
		"empty":                    nil,
		"torn":                     sound[:len(sound)-5],
		"cut at the snapshot":      join(lines[:6]...),
		"cut before the snapshot":  join(lines[:5]...),
		"torn before the snapshot": join(lines[:6]...)[:len(join(lines[:6]...))-5],
		"without a line":           join(join(lines[:2]...), join(lines[3:]...)),
		"with a line twice":        join(join(lines[:3]...), join(lines[2:]...)),
		"with more lines":          join(sound, lines[7]),
		"another end":              bytes.Replace(sound, []byte("eight"), []byte("right"), 1),
	} {
		require.NoError(t, os.WriteFile(paths[0], changed, 0o600))
		require.NoError(t, os.WriteFile(snapshot, cache, 0o600))
		require.Equal(t, 8, load().all, name)
		require.Equal(t, string(sound), string(content(t, paths[0])), name)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}
