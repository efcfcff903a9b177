package shared

import (
	"context"
	"errors"
	"strings"
	"sync"

	"appserver/protocol"
	"appserver/rollout/fleet"
	"appserver/rollout/line"
	"appserver/rollout/listing"
)

// Limits in bytes: maxText of a message in the search, maxCall of a tool call, and maxKept of all messages
// in memory.
const (
	maxText = 64 << 10
	maxCall = 1 << 10
	maxKept = 8 << 20
)

// filler adds the messages of new lines to the search.
type filler struct {
	threads *Threads
	// one is held while a thread is filled.
	one sync.Mutex
	mu  sync.Mutex
	// due are the threads with new lines. busy is the number of threads that are filled, 0 or 1. kept is
	// the size of all messages in due.
	due  map[string]*newLines
	busy int
	kept int
	// filled are the ordinals up to which this node has filled its threads.
	filled map[string]filledTo
	wake   chan struct{}
}

func newFiller(t *Threads) *filler {
	return &filler{threads: t, due: map[string]*newLines{}, filled: map[string]filledTo{}, wake: make(chan struct{}, 1)}
}

// newLines are the lines of a thread from one ordinal up to another one, and their messages.
type newLines struct {
	own       fleet.Own
	from, end int64
	messages  []fleet.Message
	size      int
}

// filledTo is the end of the filled lines in a period of ownership.
type filledTo struct{ epoch, end int64 }

// add records that a thread has new lines. It does not wait. Messages beyond maxKept are read from the
// database later.
func (f *filler) add(own fleet.Own, lines newLines) {
	lines.own = own
	for _, m := range lines.messages {
		lines.size += len(m.Text)
	}
	f.mu.Lock()
	f.addLocked(&lines)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *filler) addLocked(lines *newLines) {
	before := f.due[lines.own.ID]
	f.due[lines.own.ID] = lines
	switch isNext := before != nil && before.own.Epoch == lines.own.Epoch && before.end == lines.from; {
	case f.kept+lines.size > maxKept:
		lines.from, lines.messages, lines.size = lines.end, nil, 0
	case isNext:
		f.kept += lines.size
		lines.from, lines.size = before.from, before.size+lines.size
		lines.messages = append(before.messages, lines.messages...)
		return
	}
	f.kept += lines.size
	if before != nil {
		f.kept -= before.size
	}
}

// isIdle reports whether the search has all messages of this node.
func (f *filler) isIdle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.due) == 0 && f.busy == 0
}

// run fills threads until the store is closed.
func (f *filler) run() {
	for {
		select {
		case <-f.threads.base.Done():
			return
		case <-f.wake:
		}
		for id := f.next(); id != "" && f.threads.base.Err() == nil; id = f.next() {
			ctx, cancel := f.threads.call()
			f.flush(ctx, id)
			cancel()
		}
	}
}

// next returns a thread that is due, or "".
func (f *filler) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.due {
		return id
	}
	return ""
}

// flush adds the messages of a thread, if it is due. An error is reported: the next line of the thread, or
// its next owner, adds the messages.
func (f *filler) flush(ctx context.Context, id string) {
	f.one.Lock()
	defer f.one.Unlock()
	lines := f.take(id)
	if lines == nil {
		return
	}
	end, err := f.fill(ctx, lines)
	if err := ignoreGone(err); err != nil && f.threads.base.Err() == nil {
		f.threads.Report(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy--
	if err == nil {
		f.filled[id] = filledTo{lines.own.Epoch, end}
	}
}

// take returns the lines of a thread that is due, or nil.
func (f *filler) take(id string) *newLines {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.due[id]
	if lines == nil {
		return nil
	}
	delete(f.due, id)
	f.kept -= lines.size
	f.busy++
	return lines
}

// drop forgets a thread.
func (f *filler) drop(id string) {
	f.one.Lock()
	defer f.one.Unlock()
	if f.take(id) != nil {
		f.busy--
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.filled, id)
}

// fill adds the messages of the lines that the search lacks, and returns the end of these lines. A crash of
// the database may have lost messages that this node has added, so that they are read and added again. If the
// thread has another owner, that one adds the rest.
func (f *filler) fill(ctx context.Context, lines *newLines) (end int64, err error) {
	f.mu.Lock()
	isKnown := f.filled[lines.own.ID] == filledTo{lines.own.Epoch, lines.from}
	f.mu.Unlock()
	if isKnown {
		var order *fleet.OrderError
		if err = f.write(ctx, lines); !errors.As(err, &order) {
			return lines.end, err
		}
	}
	for goal := lines.end; ; {
		if err = f.read(ctx, lines); err == nil {
			err = f.write(ctx, lines)
		}
		if err != nil || lines.end >= goal || lines.end == lines.from {
			return lines.end, err
		}
	}
}

func (f *filler) write(ctx context.Context, lines *newLines) error {
	if lines.end == lines.from {
		return nil
	}
	return f.threads.Driver.AddMessages(ctx, lines.own, lines.from, lines.end, withoutRepeats(lines.messages))
}

// read reads messages that the search lacks from the database, about maxKept bytes.
func (f *filler) read(ctx context.Context, lines *newLines) error {
	from, err := f.threads.Driver.Indexed(ctx, lines.own.ID)
	if err != nil {
		return err
	}
	lines.from, lines.messages = from, nil
	size := 0
	lines.end, err = f.threads.Driver.Read(ctx, lines.own.ID, from, func(ordinal int64, raw []byte) bool {
		if m, ok := messageOf(raw); ok {
			lines.messages = append(lines.messages, fleet.Message{Ordinal: ordinal, Message: m})
			size += len(m.Text)
		}
		return size < maxKept
	})
	return err
}

// withoutRepeats omits the messages that repeat the last one of their role. A rollout may have a message
// as an item and as an event.
func withoutRepeats(all []fleet.Message) (messages []fleet.Message) {
	last := map[string]string{}
	for _, m := range all {
		if last[m.Role] != m.Text {
			last[m.Role] = m.Text
			messages = append(messages, m)
		}
	}
	return messages
}

// messagesIn returns the messages of lines with the ordinals from first.
func messagesIn(lines []protocol.RolloutLine, first int64) (messages []fleet.Message) {
	for i, l := range lines {
		if m, ok := shortMessage(l); ok {
			messages = append(messages, fleet.Message{Ordinal: first + int64(i), Message: m})
		}
	}
	return messages
}

// messageOf returns the message of a stored line.
func messageOf(raw []byte) (m listing.Message, ok bool) {
	parsed, reason := line.Parse(raw)
	if reason != "" {
		return m, false
	}
	return shortMessage(parsed.RolloutLine)
}

// shortMessage returns the message of a line with at most maxText bytes. It does not refer to the line.
func shortMessage(l protocol.RolloutLine) (m listing.Message, ok bool) {
	limit := maxText
	if m, ok = listing.MessageOf(l); m.ToolName != "" {
		limit = maxCall
	}
	m = m.Truncate(limit)
	m.Text, m.ToolName, m.Kind = strings.Clone(m.Text), strings.Clone(m.ToolName), strings.Clone(m.Kind)
	return m, ok
}

// ignoreGone returns nil if the thread has another owner or was deleted.
func ignoreGone(err error) error {
	if errors.Is(err, fleet.ErrFenced) || errors.Is(err, fleet.ErrNotFound) {
		return nil
	}
	return err
}
