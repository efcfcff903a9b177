package core

import (
	"slices"
	"strings"
	"time"

	"appserver/core/excerpt"
	"appserver/core/history"
	"appserver/core/toolspec"
	"appserver/protocol"
)

// MemoryRules say what is remembered of a thread, and what it is reminded of. The zero value
// is nothing.
type MemoryRules struct {
	// Summarize is set where what leaves the context is summarised, ByModel where the model
	// does so.
	Summarize, ByModel bool
	// Items and Chars bound what the model is reminded of with each request; 0 items are none.
	Items, Chars int
	// Tool is set where the model may search what is remembered.
	Tool bool
}

// Remember keeps a summary of what has left the context. It ends with Remembered.
type Remember struct {
	ID EffectID
	// Cwd tells the repository.
	Cwd     string
	Spans   []Span
	ByModel bool
	// Provider and Model are those to summarise with.
	Provider, Model string
}

// Span is what has left the context of one turn, in order.
type Span struct {
	TurnID string
	// Request is what the user asked in the turn, "" where that is not known.
	Request string
	// IDs name the items as clients do.
	IDs   []string
	Items []protocol.ResponseItem
}

// Title is the first line of the request. It is cut, so secrets go before.
func (s Span) Title() string { return preview(s.Request) }

// Remembered ends a Remember.
type Remembered struct {
	Effect EffectID
	// Repo is the repository that it is kept for, Stored how many summaries there are more.
	Repo   string
	Stored int
	Err    error
}

// Recall looks for what is remembered. It ends with Recalled.
type Recall struct {
	ID    EffectID
	Cwd   string
	Query string
	Limit int
	// Unasked is set where the model is reminded without having asked: what fits badly is none.
	Unasked bool
}

// Recalled ends a Recall, with the best first.
type Recalled struct {
	Effect EffectID
	Repo   string
	Found  []Memory
	Err    error
}

// Memory is something that is remembered.
type Memory struct {
	ID, Kind, Title, Text string
	// Session is the thread that it comes from, Items are the context items there.
	Session string
	Items   []string
	At      time.Time
}

// SetMemoryMode turns the memory of the thread on, as it is configured, or off.
type SetMemoryMode struct {
	To   protocol.Caller
	Mode string
}

func (Remember) effect()               {}
func (Recall) effect()                 {}
func (in Remembered) apply(s *step)    { s.remembered(in) }
func (in Recalled) apply(s *step)      { s.recalled(in) }
func (in SetMemoryMode) apply(s *step) { s.setMemoryMode(in) }

func (s *step) setMemoryMode(in SetMemoryMode) {
	if s.memoryOff != (in.Mode == protocol.MemoryDisabled) {
		s.settleLastTurn()
		s.record(protocol.LineMemoryMode, protocol.StoredMemoryMode{Mode: in.Mode})
		s.out.Sync = true
	}
	s.reply(in.To, protocol.Empty{})
}

// recalls tells whether the model may search what is remembered.
func (t *Thread) recalls() bool { return t.memory.Tool && !t.memoryOff }

// leastRemembered is how many bytes of text are worth a summary.
const minRemembered = 20

// storeRemoved has a summary made of the items that left the context with changes.
func (s *step) storeRemoved(changes []history.Change) {
	if !s.memory.Summarize || s.memoryOff || s.discards {
		return
	}
	spans := s.removedSpans(changes)
	if len(spans) == 0 {
		return
	}
	id := s.newEffect()
	s.remembering = append(s.remembering, id)
	s.effect(Remember{ID: id, Cwd: s.settings.Cwd, Spans: spans, ByModel: s.memory.ByModel, Provider: s.settings.Provider, Model: s.settings.Model})
}

// goneLimit bounds the text of what a summary is made of, in bytes; itemLimit that of one
// item, the middle of which is left out. Until secrets are out of it an item has heldLimit: what
// is next to that cut, where a part of one may stand, is far within what the other leaves out.
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
			spans[i].Request, _ = beginOf(history.TextOf(t.context.Item(place).Decode()), itemLimit)
		}
	}
	return spans
}

// Shortened is the span with the middle of long texts left out. What knows secrets by their form
// has to see it before.
func (s Span) Shortened() Span {
	s.Items = slices.Clone(s.Items)
	for i := range s.Items {
		s.Items[i] = shortened(s.Items[i], itemLimit)
	}
	return s
}

// shortened is an entry with a long text replaced by its ends.
func shortened(entry protocol.ResponseItem, limit int) protocol.ResponseItem {
	if whole := history.ContentText(entry); len(whole) > limit {
		cut := excerpt.Text{Limit: limit}
		cut.Write(strings.ToValidUTF8(whole, "\ufffd"))
		entry = history.WithText(entry, cut.String())
	}
	return entry
}

func (s *step) remembered(in Remembered) {
	if !ended(&s.remembering, in.Effect) {
		return
	}
	switch {
	case in.Err != nil:
		s.warnAboutMemory("What left the context could not be remembered: " + in.Err.Error())
	case in.Stored > 0:
		s.notify(protocol.MemoryUpdatedNotification{ThreadID: s.id, RepoKey: in.Repo, Stored: in.Stored})
	}
}

// warnAboutMemory tells the client once.
func (s *step) warnAboutMemory(text string) {
	if !s.memoryWarned {
		s.memoryWarned = true
		s.warn([]string{text})
	}
}

// searchMemory looks for what is remembered about the user's input, before the turn's first
// request.
func (s *step) searchMemory(input []protocol.UserInput) {
	query := strings.TrimSpace(beginOfText(inputText(input), toolspec.MaxQuery))
	if s.memory.Items == 0 || s.memoryOff || query == "" {
		return
	}
	id := s.newEffect()
	s.active.query, s.active.samples = query, append(s.active.samples, id)
	s.effect(Recall{ID: id, Cwd: s.settings.Cwd, Query: query, Limit: recallRounds * s.memory.Items, Unasked: true})
}

// recallRounds is how many times more is looked for than the model is reminded of: some of
// it is in the context.
const recallRounds = 4

func (s *step) recalled(in Recalled) {
	if s.active == nil || !ended(&s.active.samples, in.Effect) {
		s.foundForCall(in)
		return
	}
	if in.Err != nil {
		s.warnAboutMemory("What is remembered could not be searched: " + in.Err.Error())
	}
	if s.active.outcome != nil {
		s.finishWhenDone()
		return
	}
	if text := s.reminderText(in, s.active.query); text != "" && text != s.context.Reminder() {
		s.itemOfThread(history.UserMessage(text))
		s.context.MarkStale()
	}
	s.sampleWhenReady()
}
