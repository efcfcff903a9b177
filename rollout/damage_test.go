package rollout_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
)

// brokenLines returns the content of a rollout in which each record but the first shares its line with damage.
func brokenLines() string {
	cut := `{"timestamp":"2026-01-02T03:04:05.678Z","type":"eve`
	return metaLine + "\x00\x00\x00\x00" + userLine("after zeros") + cut + numbered(2) + numbered(3) +
		strings.TrimSpace(numbered(4)) + numbered(5) + strings.TrimSpace(numbered(6)) + "\x00\x00\n" + cut
}

func TestRecordsInDamagedLinesAreRead(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	content := brokenLines()
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), content)
	read, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6}, ordinals(read))
	require.Equal(t, []int{2, 3, 5, 6}, damagedLines(read))
	require.True(t, read.Torn)
	requireLoaded(t, store, read)
	page, err := store.List(rollout.Query{})
	require.NoError(t, err)
	require.Equal(t, "after zeros", page.Heads[0].Preview)
	require.Equal(t, content, get(t, rollout.OS(), path), "reading changes nothing")

	report := store.Verify(path)
	require.Equal(t, 7, report.Lines)
	require.Len(t, report.Findings, 5)
	require.Contains(t, report.Findings[0].Message, "the damaged part of the line is skipped")

	done, err := store.Redact(path, hiding("zeros"), true)
	require.NoError(t, err)
	require.Equal(t, 1, done.Lines)
	again, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, ordinals(read), ordinals(again))

	repaired, err := store.Repair(path)
	require.NoError(t, err)
	require.Contains(t, get(t, rollout.OS(), repaired.Lost), `"type":"eve`)
	require.Empty(t, store.Verify(path).Findings)
	again, err = store.Read(path)
	require.NoError(t, err)
	require.Equal(t, ordinals(read), ordinals(again)[:7])
}

func damagedLines(c *rollout.Contents) (numbers []int) {
	for _, d := range c.Damage {
		numbers = append(numbers, d.Line)
	}
	return numbers
}

// TestAThreadWithDamagedLinesIsContinued rewrites the thread and copies it.
func TestAThreadWithDamagedLinesIsContinued(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), brokenLines())
	log, contents, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(int(contents.Next), int(contents.Next)+1), true))
	require.NoError(t, log.CloseRewritten(func(l protocol.RolloutLine) (protocol.RolloutLine, bool) { return l, true }))
	backup, err := os.ReadFile(path + ".bak")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(backup), brokenLines()), "the full log is kept byte for byte")
	again, err := store.Read(path)
	require.NoError(t, err)
	require.True(t, again.Backup.Joined)
	require.Equal(t, append(payloads(contents.Lines), string(line(int(contents.Next)).Payload)),
		payloads(again.Lines[:len(again.Lines)-1]))
	require.Equal(t, ordinals(contents), ordinals(again)[:7])
}
