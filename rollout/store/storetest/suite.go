// Package storetest checks that a store of threads does what package store promises. Each
// implementation runs the same suite.
package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// Open opens a store. Stores that are opened with the same place share their threads, as programs on
// one machine or nodes of a fleet do.
type Open func(t *testing.T, place string) store.Threads

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		promise string
		check   func(s *suite)
	}{
		{"a thread exists after its first append", (*suite).begin},
		{"a thread begins with all lines of its seed", (*suite).seed},
		{"lines come back as they were appended", (*suite).roundTrip},
		{"a thread can be read while it is written", (*suite).readWhileWritten},
		{"a discarded thread does not exist", (*suite).discard},
		{"one writer at a time", (*suite).oneWriter},
		{"a closed thread can be opened by another program", (*suite).handover},
		{"a rewritten thread keeps all lines", (*suite).rewritten},
		{"a long line comes back", (*suite).longLine},
		{"an idle thread goes on", (*suite).idle},
		{"threads are written side by side", (*suite).sideBySide},
		{"archived threads are read, not written", (*suite).archive},
		{"a deleted thread does not exist", (*suite).deleted},
		{"missing threads are named", (*suite).missing},
		{"an imported thread has the lines of its rollout", (*suite).imported},
		{"names are kept", (*suite).names},
		{"lists are divided into pages", (*suite).pages},
		{"lists are filtered", (*suite).filters},
		{"threads without a message are listed on request", (*suite).unlisted},
		{"texts are found", (*suite).search},
		{"old threads are archived or deleted", (*suite).retain},
		{"a repeated copy does not undo changes", (*suite).copyAgain},
	} {
		t.Run(c.promise, func(t *testing.T) {
			place := t.TempDir()
			c.check(&suite{t: t, open: open, place: place, Threads: open(t, place)})
		})
	}
}

// suite is a store with a test.
type suite struct {
	store.Threads
	t     *testing.T
	open  Open
	place string
}

// another opens the same threads as another program.
func (s *suite) another() *suite {
	return &suite{t: s.t, open: s.open, place: s.place, Threads: s.open(s.t, s.place)}
}

// start is the time of the first thread.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// timeOf returns the time at which thread n begins.
func timeOf(n int) time.Time { return start.Add(time.Duration(n) * 13 * time.Hour) }

func refOf(n int) store.Ref { return store.Ref{ID: idOf(n)} }

// beginThread begins thread n with messages, and leaves it open.
func (s *suite) beginThread(n int, texts ...string) store.Journal {
	journal, err := s.Begin(idOf(n), timeOf(n), nil)
	require.NoError(s.t, err)
	require.NoError(s.t, journal.Append(linesOf(n, texts...), true))
	return journal
}

// put stores thread n with messages.
func (s *suite) put(n int, texts ...string) {
	require.NoError(s.t, s.beginThread(n, texts...).Close())
}

// openThread opens thread n for writing.
func (s *suite) openThread(n int) (store.Journal, []protocol.RolloutLine) {
	var lines rollout.LineList
	journal, _, err := s.Threads.Open(refOf(n), &lines)
	require.NoError(s.t, err)
	return journal, lines
}

// read returns the lines of thread n.
func (s *suite) read(n int) []protocol.RolloutLine {
	var lines rollout.LineList
	_, text, err := s.Load(refOf(n), &lines)
	require.NoError(s.t, err)
	require.NoError(s.t, text.Close())
	return lines
}

// linesOf returns the first lines of thread n, with messages of the user.
func linesOf(n int, texts ...string) []protocol.RolloutLine {
	at := protocol.Timestamp(timeOf(n))
	lines := []protocol.RolloutLine{{Timestamp: at, Type: "session_meta", Payload: fmt.Appendf(nil,
		`{"id":%q,"timestamp":%q,"cwd":"/src/%d","source":"cli","model_provider":"p%d"}`, idOf(n), at, n, n%2)}}
	for _, text := range texts {
		lines = append(lines, message(at, text)...)
	}
	return numbered(lines, 0)
}

// message returns the lines of a message of the user.
func message(at, text string) []protocol.RolloutLine {
	return []protocol.RolloutLine{
		{Timestamp: at, Type: "response_item", Payload: fmt.Appendf(nil,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)},
		{Timestamp: at, Type: "event_msg", Payload: fmt.Appendf(nil, `{"type":"user_message","message":%q}`, text)},
	}
}

// numbered sets the ordinals of lines.
func numbered(lines []protocol.RolloutLine, next int64) []protocol.RolloutLine {
	for i := range lines {
		lines[i].Ordinal = new(next + int64(i))
	}
	return lines
}

// more returns the lines of a message that follow n lines.
func more(n int, text string) []protocol.RolloutLine {
	return numbered(message(protocol.Timestamp(start), text), int64(n))
}

// same requires equal lines.
func (s *suite) same(want, got []protocol.RolloutLine) {
	s.t.Helper()
	require.Equal(s.t, textOf(want), textOf(got))
}

func textOf(lines []protocol.RolloutLine) string {
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&text, "%d %s %s %.2000s %d\n", *l.Ordinal, l.Timestamp, l.Type, l.Payload, len(l.Payload))
	}
	return text.String()
}
