package shared_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

const threadID = "0190a6f8-1111-7aaa-8bbb-000000000001"

// texts returns the lines of messages, from an ordinal on.
func texts(from int64, messages ...string) (lines []protocol.RolloutLine) {
	for i, text := range messages {
		lines = append(lines, protocol.RolloutLine{Timestamp: "2026-01-02T03:04:05.000Z", Type: "event_msg",
			Ordinal: new(from + int64(i)), Payload: fmt.Appendf(nil, `{"type":"user_message","message":%q}`, text)})
	}
	return lines
}

// metaLine returns the first line of the thread.
func metaLine() []protocol.RolloutLine {
	return []protocol.RolloutLine{{Timestamp: "2026-01-02T03:04:05.000Z", Type: protocol.LineSessionMeta,
		Payload: fmt.Appendf(nil, `{"id":%q,"timestamp":"2026-01-02T03:04:05.000Z"}`, threadID)}}
}

// read returns the messages of the thread.
func read(t *testing.T, threads store.Threads) (messages []string) {
	var lines rollout.LineList
	_, text, err := threads.Load(store.Ref{ID: threadID}, &lines)
	require.NoError(t, err)
	require.NoError(t, text.Close())
	for _, l := range lines {
		var message struct {
			Message string `json:"message"`
		}
		require.NoError(t, protocol.Unmarshal(l.Payload, &message))
		messages = append(messages, message.Message)
	}
	return messages
}

// TestReadsOfAnOpenThreadDoNotWaitForItsWriter reads a thread while this node writes it. A wait for the lock of the
// writer takes 250 ms, and an append waits for a read.
func TestReadsOfAnOpenThreadDoNotWaitForItsWriter(t *testing.T) {
	node := nodes(t)(t, "here")
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one"), true))
	began, want := time.Now(), []string{"one"}
	const reads = 40
	for n := range int64(reads) {
		require.Equal(t, want, read(t, node))
		want = append(want, fmt.Sprint(n))
		require.NoError(t, journal.Append(texts(n+1, fmt.Sprint(n)), true))
	}
	require.Less(t, time.Since(began), reads*250*time.Millisecond)
	require.NoError(t, journal.Close())
	require.Equal(t, want, read(t, node))
}

// TestDamagedCopiesAreFetchedAgain damages the copy of a closed thread in several ways.
func TestDamagedCopiesAreFetchedAgain(t *testing.T) {
	node := nodes(t)(t, "here")
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one", "two", "three"), true))
	require.NoError(t, journal.Close())
	paths, err := filepath.Glob(filepath.Join(copiesOf(node), "sessions", "*", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	sound, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	for name, damage := range map[string]string{
		"torn":           string(sound[:len(sound)-20]),
		"empty":          "",
		"damaged":        "x" + string(sound[1:]),
		"another end":    string(sound[:len(sound)-10]) + "x" + string(sound[len(sound)-9:]),
		"too many lines": string(sound) + string(sound),
	} {
		require.NoError(t, os.WriteFile(paths[0], []byte(damage), 0o600))
		require.Equal(t, []string{"one", "two", "three"}, read(t, node), name)
		repaired, err := os.ReadFile(paths[0])
		require.NoError(t, err)
		require.Equal(t, string(sound), string(repaired), name)
	}
	require.NoError(t, os.Remove(paths[0]))
	require.Equal(t, []string{"one", "two", "three"}, read(t, node))
}

// TestAThreadOfAnotherNodeNamesTheNode opens a thread that another node has open.
func TestAThreadOfAnotherNodeNamesTheNode(t *testing.T) {
	open := nodes(t)
	first, second := open(t, "here"), open(t, "here")
	journal, err := first.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one"), true))
	var lines rollout.LineList
	var owned *store.OwnedError
	_, _, err = second.Open(store.Ref{ID: threadID}, &lines)
	require.ErrorAs(t, err, &owned)
	require.Equal(t, idOf(first), owned.Node)
	require.NoError(t, journal.Append(texts(1, "two"), true))
	require.Equal(t, []string{"one", "two"}, read(t, second))
	require.NoError(t, journal.Close())
	taken, _, err := second.Open(store.Ref{ID: threadID}, &lines)
	require.NoError(t, err)
	require.NoError(t, taken.Close())
}

// TestTheNextProcessOfAHomeHasTheThreadsOfAKilledOne kills a process by the release of its locks.
func TestTheNextProcessOfAHomeHasTheThreadsOfAKilledOne(t *testing.T) {
	open := nodes(t)
	first := open(t, "here").(*shared.Threads)
	journal, err := first.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, "one"), true))
	next := func() *shared.Threads {
		o := first.Options
		o.Node = fleet.Node{ID: "next-" + uuid.NewString()[:4], Incarnation: uuid.NewString()}
		threads, err := shared.Open(context.Background(), o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, threads.Close()) })
		return threads
	}
	var owned *store.OwnedError
	_, _, err = next().Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.ErrorAs(t, err, &owned, "the first process runs")
	require.NoError(t, first.Kill())
	second := next()
	taken, _, err := second.Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.NoError(t, err)
	var lost *store.LostError
	require.ErrorAs(t, journal.Append(texts(1, "two"), true), &lost)
	require.NoError(t, taken.Append(texts(1, "three"), true))
	require.NoError(t, taken.Close())
	require.Equal(t, []string{"one", "three"}, read(t, second))
	_ = journal.Close() // it has lost the thread
}
