package core

import (
	"slices"
	"strings"
	"time"

	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// Remember stores a summary of removed items. It ends with Remembered.
type Remember struct {
	ID EffectID
	// Cwd is a folder of the repository.
	Cwd     string
	Spans   []Span
	ByModel bool
	// Provider and Model summarise the items.
	Provider, Model string
}

// Span has the removed items of one turn, in order.
type Span struct {
	TurnID string
	// Request is the user's request of the turn, or "" if it is not known.
	Request string
	// IDs are the ids of the items.
	IDs   []string
	Items []protocol.ResponseItem
}

// Title returns the first line of the request. Secrets must be redacted before, because the title is
// truncated.
func (s Span) Title() string { return preview(s.Request, previewLength) }

// Remembered ends a Remember.
type Remembered struct {
	Effect EffectID
	// Repo is the key of the repository, Stored the number of new summaries.
	Repo   string
	Stored int
	Err    error
}

// SetMemoryMode turns the memory of the thread on or off. On means as configured.
type SetMemoryMode struct {
	To   protocol.Caller
	Mode string
}

func (Remember) effect() {}

func (in Remembered) apply(s *step) { s.remembered(in) }

// Memory is an entry of the memory.
type Memory struct {
	ID, Kind, Title, Text string
	// Session is the thread that it comes from, Items are the ids of its context items.
	Session string
	Items   []string
	At      time.Time
}

// Recalled ends a Recall. The best match is first.
type Recalled struct {
	Effect EffectID
	Repo   string
	Found  []Memory
	Err    error
}

func (in Recalled) apply(s *step)      { s.recalled(in) }
func (in SetMemoryMode) apply(s *step) { s.setMemoryMode(in) }

func (s *step) setMemoryMode(in SetMemoryMode) {
	if s.state.MemoryOff != (in.Mode == protocol.MemoryDisabled) {
		s.closeDanglingTurn()
		s.record(protocol.LineMemoryMode, protocol.StoredMemoryMode{Mode: in.Mode})
		s.out.Sync = true
	}
	s.reply(in.To, protocol.Empty{})
}

// minRemembered is the least number of bytes that are worth a summary.
const minRemembered = 20

// storeRemoved starts the summary of the items that changes removed.
func (s *step) storeRemoved(changes []history.Change) {
	if !s.memory.Summarize || s.state.MemoryOff || s.discards {
		return
	}
	spans := s.removedSpans(changes)
	if len(spans) == 0 {
		return
	}
	id := s.newEffect()
	s.remembering = append(s.remembering, id)
	s.effect(Remember{ID: id, Cwd: s.state.Settings.Cwd, Spans: spans, ByModel: s.memory.ByModel,
		Provider: s.state.Settings.Provider,
		Model:    s.state.Settings.Model})
}

// goneLimit bounds the text of one summary's items, in bytes. itemLimit bounds one item, whose middle
// is left out. Before redaction an item has up to heldLimit, so that a secret at a cut is whole when
// it is redacted.
const goneLimit, itemLimit, heldLimit = 4 << 20, 16 << 10, 64 << 10

// removedSpans returns the items that left the prompt with changes, by turn. If they are many, it returns the
// newest ones.
func (t *Thread) removedSpans(changes []history.Change) (spans []Span) {
	size := 0
	for r := range t.context.RemovedBy(changes) {
		entry := shortened(r.Item, heldLimit)
		if size += len(history.ContentText(shortened(entry, itemLimit))); size > goneLimit {
			break
		}
		c := t.context.Item(r.Place)
		if n := len(spans); n == 0 || spans[n-1].TurnID != c.TurnID() {
			spans = append(spans, Span{TurnID: c.TurnID()})
		}
		last := &spans[len(spans)-1]
		last.IDs, last.Items = append(last.IDs, c.ID()), append(last.Items, entry)
	}
	if size < minRemembered {
		return nil
	}
	requests := t.context.UserMessages()
	slices.Reverse(spans)
	for i := range spans {
		slices.Reverse(spans[i].IDs)
		slices.Reverse(spans[i].Items)
		if place, known := requests[spans[i].TurnID]; known {
			spans[i].Request = excerpt.Prefix(history.TextOf(t.context.Item(place).Decode()), itemLimit)
		}
	}
	return spans
}

// Shortened returns the span with the middle of long texts left out. Secrets must be redacted before.
func (s Span) Shortened() Span {
	s.Items = slices.Clone(s.Items)
	for i := range s.Items {
		s.Items[i] = shortened(s.Items[i], itemLimit)
	}
	return s
}

// shortened returns an item with the middle of a long text left out.
func shortened(entry protocol.ResponseItem, limit int) protocol.ResponseItem {
	if whole := history.ContentText(entry); len(whole) > limit {
		entry = history.WithText(entry, excerpt.Ends(whole, limit))
	}
	return entry
}

func (s *step) remembered(in Remembered) {
	if !removeEffect(&s.remembering, in.Effect) {
		return
	}
	switch {
	case in.Err != nil:
		s.warnAboutMemory("What left the context could not be remembered: " + in.Err.Error())
	case in.Stored > 0:
		s.notify(protocol.MemoryUpdatedNotification{ThreadID: s.state.ID, RepoKey: in.Repo, Stored: in.Stored})
	}
}

// warnAboutMemory warns the client, once per thread.
func (s *step) warnAboutMemory(text string) {
	if !s.memoryWarned {
		s.memoryWarned = true
		s.warn([]string{text})
	}
}

// searchMemory searches the memory for the user's input, before the first request of a turn.
func (s *step) searchMemory(input []protocol.UserInput) {
	query := strings.TrimSpace(excerpt.Prefix(transcript.InputText(input), toolspec.MaxQuery))
	if s.memory.Items == 0 || s.state.MemoryOff || query == "" {
		return
	}
	id := s.newEffect()
	s.active.query, s.active.modelEffects = query, append(s.active.modelEffects, id)
	s.effect(Recall{ID: id, Cwd: s.state.Settings.Cwd, Query: query, Limit: recallRounds * s.memory.Items, Unasked: true})
}

// recallRounds is the number of matches to fetch for each entry of a reminder, since some are in the
// context already.
const recallRounds = 4

func (s *step) recalled(in Recalled) {
	if !s.endModelEffect(in.Effect) {
		s.recallDone(in)
		return
	}
	if in.Err != nil {
		s.warnAboutMemory("What is remembered could not be searched: " + in.Err.Error())
	}
	if s.isEnding() {
		s.completeOnceEnded()
		return
	}
	if text := s.reminderText(in, s.active.query); text != "" && text != s.context.Reminder() {
		s.itemOfThread(history.UserMessage(text))
		s.context.MarkStale()
	}
	s.requestModelWhenReady()
}
