package shared

import (
	"context"
	"errors"
	"sync"

	"appserver/rollout/fleet"
	"appserver/rollout/line"
	"appserver/rollout/listing"
)

// Limits in bytes: maxText of a message in the search, maxCall of a tool call.
const (
	maxText = 64 << 10
	maxCall = 1 << 10
)

// filler adds the messages of new lines to the search.
type filler struct {
	threads *Threads
	// one is held while a thread is filled.
	one sync.Mutex
	mu  sync.Mutex
	// due are the threads with new lines, and the one that is filled.
	due  map[string]newLines
	wake chan struct{}
}

func newFiller(t *Threads) *filler {
	return &filler{threads: t, due: map[string]newLines{}, wake: make(chan struct{}, 1)}
}

// newLines are the lines of a thread below an ordinal.
type newLines struct {
	fleet.Own
	end int64
}

// add notes that a thread has new lines. It does not wait.
func (f *filler) add(own fleet.Own, end int64) {
	f.mu.Lock()
	f.due[own.ID] = newLines{own, end}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// isIdle reports whether the search has all messages of this node.
func (f *filler) isIdle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.due) == 0
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

// flush adds the messages of a thread, if it is due. An error is reported, and the thread is not due any
// more: its next line, or its next owner, adds the messages.
func (f *filler) flush(ctx context.Context, id string) {
	f.one.Lock()
	defer f.one.Unlock()
	f.mu.Lock()
	lines, due := f.due[id]
	f.mu.Unlock()
	if !due {
		return
	}
	if err := f.fill(ctx, lines.Own); err != nil && f.threads.base.Err() == nil {
		f.threads.Report(err)
	}
	f.forget(lines)
}

// drop removes a thread that is to be deleted.
func (f *filler) drop(id string) {
	f.one.Lock()
	defer f.one.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.due, id)
}

// forget removes a thread from those that are due, unless it has newer lines.
func (f *filler) forget(lines newLines) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.due[lines.ID] == lines {
		delete(f.due, lines.ID)
	}
}

// fill adds the messages of the lines that the search lacks. Another owner of the thread adds the rest.
func (f *filler) fill(ctx context.Context, own fleet.Own) error {
	from, err := f.threads.Driver.Indexed(ctx, own.ID)
	if err != nil {
		return ignoreGone(err)
	}
	var messages []fleet.Message
	last := map[string]string{}
	next, err := f.threads.Driver.Read(ctx, own.ID, from, func(ordinal int64, raw []byte) bool {
		if m, ok := messageOf(raw); ok && last[m.Role] != m.Text {
			last[m.Role] = m.Text
			messages = append(messages, fleet.Message{Ordinal: ordinal, Message: m})
		}
		return true
	})
	if err == nil && next > from {
		err = f.threads.Driver.AddMessages(ctx, own, next, messages)
	}
	return ignoreGone(err)
}

// messageOf returns the message of a line. A rollout may have it as an item and as an event.
func messageOf(raw []byte) (m listing.Message, ok bool) {
	parsed, reason := line.Parse(raw)
	if reason != "" {
		return m, false
	}
	if m, ok = listing.MessageOf(parsed.RolloutLine); m.ToolName != "" {
		return m.Truncate(maxCall), ok
	}
	return m.Truncate(maxText), ok
}

// ignoreGone returns nil if the thread has another owner or was deleted.
func ignoreGone(err error) error {
	if errors.Is(err, fleet.ErrFenced) || errors.Is(err, fleet.ErrNotFound) {
		return nil
	}
	return err
}
