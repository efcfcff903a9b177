package core

import (
	"cmp"
	"fmt"
	"time"

	"appserver/core/compaction"
	"appserver/core/history"
	"appserver/protocol"
)

// CompactContext begins a turn that compacts the context.
type CompactContext struct {
	To    protocol.Caller
	World World
	// Strategy is the configured one where it is "".
	Strategy string
}

func (in CompactContext) apply(s *step) { s.compactContext(in) }

// runningCompaction is a compaction of the active turn, or the draft of one.
type runningCompaction struct {
	rules    *compaction.Rules
	strategy string
	plan     compaction.Plan
	span     compaction.Span
	began    time.Time
	// tokensBefore is the cost of the next request without the compaction.
	tokensBefore int64
	// item is the thread item that shows it, or nil for a draft.
	item *protocol.ThreadItem
	// revision and items identify the context for which it was planned.
	revision int64
	items    int
}

// compactable returns the context with what plans depend on.
func (t *Thread) compactable() *compaction.Context {
	return &compaction.Context{History: &t.context, PromptTokens: t.PromptTokens(), ActiveTurn: t.ActiveTurn()}
}

// mostCompactions bounds how often the context is compacted before one request.
const maxCompactions = 3

func (s *step) compactContext(in CompactContext) {
	if s.turnUnderWay(in.To) {
		return
	}
	s.openTurn(in.World).compacts = true
	s.recordBegin(nil)
	s.changeSettings(s.settings, s.active.id)
	s.reply(in.To, protocol.Empty{})
	s.notifyStatus()
	s.notify(protocol.TurnStartedNotification{ThreadID: s.id, Turn: s.startedTurn()})
	s.compactOnRequest(in.Strategy)
}

// compactOnRequest compacts because somebody wants it, even where there is room.
func (s *step) compactOnRequest(strategy string) {
	r := &s.active.world.Compaction
	c := s.compactable()
	plan, found := c.Whole(r, r.KeepTurns)
	if found && plan.From != none && r.Target > 0 && c.After(r, plan) > r.Target {
		if more, ok := c.ToTarget(r, r.KeepTurns, r.Target); ok {
			plan = more
		}
	}
	s.beginCompaction(cmp.Or(strategy, r.Strategy), plan)
	if !found {
		s.warn([]string{nothingToCompact})
		s.endCompaction()
		s.conclude(protocol.TurnCompleted, nil)
		return
	}
	s.compact()
}

const nothingToCompact = "There is nothing to compact: the context holds no answers and no tool results beside the turns that stay."

// compactIfNeeded compacts before a request that would have too many tokens. It is false where
// the request is to be made; where it cannot be made, the turn has ended.
func (s *step) compactIfNeeded() bool {
	t := s.active
	limit, window := t.world.Compaction.Limit, t.world.Provider.ContextWindow
	if limit == 0 && window == nil || s.fitsWithoutCounting(limit, window) {
		return false
	}
	tokens := s.PromptTokens()
	if limit > 0 && tokens > limit && s.compactToTarget(t.world.Compaction.Target) {
		return true
	}
	if window == nil || tokens <= *window {
		return false
	}
	s.conclude(protocol.TurnFailed, s.contextTooLong(tokens, *window))
	return true
}

// compactToTarget begins a compaction to a target, and is false where nothing would be gained.
func (s *step) compactToTarget(target int64) bool {
	t := s.active
	if t.compactions >= maxCompactions {
		return false
	}
	plan, found := s.compactable().ToTarget(&t.world.Compaction, t.world.Compaction.KeepTurns, target)
	if !found {
		return false
	}
	t.compactions++
	s.beginCompaction(t.world.Compaction.Strategy, plan)
	s.compact()
	return true
}

// fitsWithoutCounting tells without counting that a request is within the limits: no text has
// more tokens than bytes.
func (s *step) fitsWithoutCounting(limit int64, window *int64) bool {
	least := limit
	if window != nil && (least == 0 || *window < least) {
		least = *window
	}
	bytes := int64(frameBytes)
	for i := range s.context.Len() {
		if !s.context.Item(i).Hidden() {
			bytes += s.context.Item(i).MaxTokens()
		}
	}
	return int64(float64(bytes+int64(len(s.systemPrompt())))*max(s.context.Scale(), 1)+0.5) <= least
}

// frameBytes are about those of the tools.
const frameBytes = 8 << 10

// contextTooLong says which item is in the way.
func (s *step) contextTooLong(tokens, window int64) *protocol.TurnError {
	largest, most := none, int64(0)
	for i := range s.context.Len() {
		if price := s.context.SentTokens(i); price > most {
			largest, most = i, price
		}
	}
	text := fmt.Sprintf("the next request would have %d tokens, but the model's context window holds %d", tokens, window)
	if s.active.world.Compaction.Limit > 0 {
		text += ", and compacting does not help"
	} else {
		text += ", and automatic compaction is off: compact with thread/compact/start"
	}
	if largest != none {
		text += fmt.Sprintf(": item %s (%s) alone has %d. Take it out with context/setInclusion, or shorten it with context/replace, and go on", s.context.Item(largest).ID(), s.context.Category(largest), most)
	}
	return &protocol.TurnError{Message: text, CodexErrorInfo: &protocol.CodexErrorInfo{Kind: protocol.ErrorContextWindowExceeded}}
}

func (s *step) beginCompaction(strategy string, p compaction.Plan) {
	c := s.newCompaction(&s.active.world.Compaction, strategy, p)
	c.item = s.openItem(&protocol.ContextCompactionItem{ID: s.NewID()}, s.Now)
	s.active.compaction = c
	s.started(c.item)
}

func (s *step) newCompaction(rules *compaction.Rules, strategy string, p compaction.Plan) *runningCompaction {
	c := s.compactable()
	return &runningCompaction{rules: rules, strategy: strategy, plan: p, span: c.Span(p), began: s.Now,
		tokensBefore: c.PromptTokens, revision: s.context.Revision(), items: s.context.Len()}
}

// compact runs the compaction of the active turn by its strategy.
func (s *step) compact() {
	c := s.active.compaction
	switch {
	case c.strategy == protocol.CompactSummary:
		s.askSummary()
	case c.strategy == protocol.CompactMask && s.mask(c):
	default:
		text, strategy := c.summarize()
		s.commitCompaction(text, strategy)
	}
}

// summarize makes a summary without a model, and returns the strategy that made it.
func (c *runningCompaction) summarize() (text, strategy string) {
	if c.strategy == protocol.CompactUserMessages {
		return c.rules.Requests(&c.span), protocol.CompactUserMessages
	}
	return c.rules.Extract(&c.span), protocol.CompactLocal
}

// commitCompaction puts a summary in the place of what it stands for, and goes on. Unasked
// that is not done where nothing would be gained.
func (s *step) commitCompaction(text, strategy string) {
	c := s.active.compaction
	p := s.pointOf(c, text)
	switch {
	case p.SavedTokens > 0:
	case s.active.compacts:
		s.warn([]string{"The summary is longer than what it stands for: take the compaction back with context/undo if that is not what you want."})
	default:
		s.active.compactions = maxCompactions
		s.endCompaction()
		s.sample()
		return
	}
	s.active.compaction = nil
	cut := s.writeCompaction(p, text, strategy, s.Now.Sub(c.began))
	s.recordSize()
	s.completed(c.item, nil)
	s.notifyCompacted(c.tokensBefore, strategy)
	s.notifyTrim(cut)
	s.contextChanged(s.lastChanges())
	s.afterCompaction()
}

// endCompaction ends the compaction under way with the context as it is.
func (s *step) endCompaction() {
	s.completed(s.active.compaction.item, nil)
	s.active.compaction = nil
}

// pointOf is the trim point of a compaction with a summary. What joined since it was planned
// stays: the summary does not tell of it.
func (s *step) pointOf(c *runningCompaction, text string) protocol.StoredTrimPoint {
	from := c.plan.From
	if from == none && c.items < s.context.Len() {
		from = c.items
	}
	p := s.trimAt(from, protocol.TrimCompaction, c.plan.Words...)
	p.SavedTokens -= s.priceOf(text)
	return p
}

// writeCompaction writes the line of a compaction, whose summary took a time to make, and
// that of the provider session that begins with it.
func (s *step) writeCompaction(p protocol.StoredTrimPoint, text, strategy string, took time.Duration) *trimChange {
	cut := s.beginTrim()
	s.record(protocol.LineCompacted, protocol.Compacted{Message: history.SummaryHead + text, TrimPoint: &p, Strategy: strategy})
	s.out.Sync = true
	s.endTrim(cut, new(took.Milliseconds()))
	return cut
}

// recordSize tells what the context costs now, as clients expect it of the last request.
func (s *step) recordSize() {
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Info: &protocol.TokenCountInfo{
		TotalTokenUsage: s.usage.Total.Stored(), LastTokenUsage: protocol.StoredUsage{TotalTokens: s.PromptTokens()},
		ModelContextWindow: s.usage.ModelContextWindow,
	}})
	s.notifyUsage(s.currentTurn())
}

// notifyCompacted tells what a compaction came to.
func (s *step) notifyCompacted(before int64, strategy string) {
	s.notify(protocol.ContextCompactedNotification{ThreadID: s.id, TurnID: s.currentTurn(),
		OldTokenCount: before, NewTokenCount: s.PromptTokens(), Strategy: strategy})
}

// mask puts placeholders in the place of old outputs. It is false where that would not be
// enough.
func (s *step) mask(c *runningCompaction) bool {
	target := s.active.world.Compaction.Target
	context := s.compactable()
	if target > 0 && context.Masked(c.plan) > target && !s.active.compacts {
		return false
	}
	places := context.Maskable(c.plan)
	if len(places) == 0 {
		return false
	}
	s.active.compaction = nil
	changes := s.commitEdit(s.context.Encode(history.Plan{Op: protocol.EditMask, Places: places}))
	s.recordSize()
	s.completed(c.item, nil)
	s.notifyCompacted(c.tokensBefore, protocol.CompactMask)
	s.contextChanged(changes)
	s.afterCompaction()
	return true
}

// afterCompaction ends the turn that was for it, or makes the request that it was made for.
func (s *step) afterCompaction() {
	if s.active.compacts {
		s.conclude(protocol.TurnCompleted, nil)
		return
	}
	s.sample()
}
