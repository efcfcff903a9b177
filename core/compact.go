package core

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"appserver/core/digest"
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

// Compaction says when and how the context is compacted. Tokens are those of the next
// model request.
type Compaction struct {
	// Strategy is one of protocol's Compact constants.
	Strategy string
	// Limit is how many tokens a request may have, Target how many it is to have after a
	// compaction. A limit of 0 compacts nothing unasked, a target of 0 is no target.
	Limit, Target int64
	// KeepTurns is how many of the last turns stay word for word.
	KeepTurns int
	// UserTokens bounds the messages of the user that stay of older turns.
	UserTokens int64
	// Prompt tells the model how to summarise.
	Prompt string
}

// compaction is one under way, or the draft of one.
type compaction struct {
	rules    *Compaction
	strategy string
	plan     compactPlan
	stretch  stretch
	began    time.Time
	before   int64
	// item is what the turn shows of it, nil of a draft.
	item *protocol.ThreadItem
	// revision and items are those of the context that it was planned for.
	revision int64
	items    int
}

// mostCompactions bounds how often the context is compacted before one request.
const mostCompactions = 3

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
	s.compactAsked(in.Strategy)
}

// compactAsked compacts because somebody wants it, even where there is room.
func (s *step) compactAsked(strategy string) {
	r := &s.active.world.Compaction
	plan, found := s.planWhole(r, r.KeepTurns)
	if found && plan.from != none && r.Target > 0 && s.afterPlan(r, plan) > r.Target {
		if more, ok := s.planCompaction(r, r.KeepTurns, r.Target); ok {
			plan = more
		}
	}
	s.beginCompaction(cmp.Or(strategy, r.Strategy), plan)
	if !found {
		s.warn([]string{nothingToCompact})
		s.leaveCompaction()
		s.conclude(protocol.TurnCompleted, nil)
		return
	}
	s.compact()
}

const nothingToCompact = "There is nothing to compact: the context holds no answers and no tool results beside the turns that stay."

func (s *step) afterPlan(r *Compaction, p compactPlan) int64 {
	m := s.measure()
	summary, words := r.budgets(r.Target)
	return m.after(m.rank(p.from), summary, words)
}

// makeRoom compacts before a request that would have too many tokens. It is false where
// the request is to be made; where it cannot be made, the turn has ended.
func (s *step) makeRoom() bool {
	t := s.active
	limit, window := t.world.Compaction.Limit, t.world.Provider.ContextWindow
	if limit == 0 && window == nil || s.surelyWithin(limit, window) {
		return false
	}
	tokens := s.PromptTokens()
	if limit > 0 && tokens > limit && s.compactTo(t.world.Compaction.Target) {
		return true
	}
	if window == nil || tokens <= *window {
		return false
	}
	s.conclude(protocol.TurnFailed, s.tooLong(tokens, *window))
	return true
}

// compactTo begins a compaction to a target, and is false where nothing would be gained.
func (s *step) compactTo(target int64) bool {
	t := s.active
	if t.compactions >= mostCompactions {
		return false
	}
	plan, found := s.planCompaction(&t.world.Compaction, t.world.Compaction.KeepTurns, target)
	if !found {
		return false
	}
	t.compactions++
	s.beginCompaction(t.world.Compaction.Strategy, plan)
	s.compact()
	return true
}

// surelyWithin tells without counting that a request is within the limits: no text has
// more tokens than bytes.
func (s *step) surelyWithin(limit int64, window *int64) bool {
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

// tooLong says which item is in the way.
func (s *step) tooLong(tokens, window int64) *protocol.TurnError {
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

func (s *step) beginCompaction(strategy string, p compactPlan) {
	c := s.compaction(&s.active.world.Compaction, strategy, p)
	c.item = s.openItem(&protocol.ContextCompactionItem{ID: s.NewID()}, s.Now)
	s.active.compaction = c
	s.started(c.item)
}

func (s *step) compaction(rules *Compaction, strategy string, p compactPlan) *compaction {
	return &compaction{rules: rules, strategy: strategy, plan: p, stretch: s.replaced(p), began: s.Now,
		before: s.PromptTokens(), revision: s.context.Revision(), items: s.context.Len()}
}

// compact goes the way of the strategy.
func (s *step) compact() {
	c := s.active.compaction
	switch {
	case c.strategy == protocol.CompactSummary:
		s.askSummary()
	case c.strategy == protocol.CompactMask && s.mask(c):
	default:
		text, strategy := c.summarise()
		s.commitCompaction(text, strategy)
	}
}

// summarise makes a summary without a model, and tells the strategy that made it.
func (c *compaction) summarise() (text, strategy string) {
	if c.strategy == protocol.CompactUserMessages {
		return c.earlier(), protocol.CompactUserMessages
	}
	return c.extract(), protocol.CompactLocal
}

// bytesPerToken is what a token has at least, about, in text of several languages.
const bytesPerToken = 3

// summaryLimit bounds a summary, in bytes.
func (c *compaction) summaryLimit() int {
	tokens, _ := c.rules.budgets(c.rules.Target)
	return int(tokens) * bytesPerToken
}

// extract is a summary that no model makes.
func (c *compaction) extract() string {
	return digest.Extract(c.stretch.former, c.stretch.items, c.summaryLimit())
}

// earlier is the user's requests, as far as they do not stay.
func (c *compaction) earlier() string {
	limit := c.summaryLimit()
	text := digest.Earlier(c.stretch.messages(), limit/2)
	if former := c.stretch.former; former != "" {
		text = strings.TrimSpace(former[:min(len(former), limit/2)] + "\n\n" + text)
	}
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "")); text == "" {
		return fmt.Sprintf("The earlier requests of the user stand above; %d answers, calls and results were left out.", len(c.stretch.items))
	}
	return text
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
		s.active.compactions = mostCompactions
		s.leaveCompaction()
		s.sample()
		return
	}
	s.active.compaction = nil
	cut := s.writeCompaction(p, text, strategy, s.Now.Sub(c.began))
	s.tellSize()
	s.completed(c.item, nil)
	s.tellCompacted(c.before, strategy)
	s.tellCut(cut)
	s.tellContext(s.lastChanges())
	s.afterCompaction()
}

// leaveCompaction ends the compaction under way with the context as it is.
func (s *step) leaveCompaction() {
	s.completed(s.active.compaction.item, nil)
	s.active.compaction = nil
}

// pointOf is the trim point of a compaction with a summary. What joined since it was planned
// stays: the summary does not tell of it.
func (s *step) pointOf(c *compaction, text string) protocol.StoredTrimPoint {
	from := c.plan.from
	if from == none && c.items < s.context.Len() {
		from = c.items
	}
	p := s.cutAt(from, protocol.TrimCompaction, c.plan.words...)
	p.SavedTokens -= s.priceOf(text)
	return p
}

// writeCompaction writes the line of a compaction, whose summary took a time to make, and
// that of the provider session that begins with it.
func (s *step) writeCompaction(p protocol.StoredTrimPoint, text, strategy string, took time.Duration) *aCut {
	cut := s.beginCut()
	s.record(protocol.LineCompacted, protocol.Compacted{Message: history.SummaryHead + text, TrimPoint: &p, Strategy: strategy})
	s.out.Sync = true
	s.endCut(cut, new(took.Milliseconds()))
	return cut
}

// tellSize tells what the context costs now, as clients expect it of the last request.
func (s *step) tellSize() {
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Info: &protocol.TokenCountInfo{
		TotalTokenUsage: s.usage.Total.Stored(), LastTokenUsage: protocol.StoredUsage{TotalTokens: s.PromptTokens()},
		ModelContextWindow: s.usage.ModelContextWindow,
	}})
	s.notifyUsage(s.currentTurn())
}

// tellCompacted tells what a compaction came to.
func (s *step) tellCompacted(before int64, strategy string) {
	s.notify(protocol.ContextCompactedNotification{ThreadID: s.id, TurnID: s.currentTurn(),
		OldTokenCount: before, NewTokenCount: s.PromptTokens(), Strategy: strategy})
}

// mask puts placeholders in the place of old outputs. It is false where that would not be
// enough.
func (s *step) mask(c *compaction) bool {
	target := s.active.world.Compaction.Target
	m := s.measure()
	if target > 0 && m.masked(m.rank(c.plan.from)) > target && !s.active.compacts {
		return false
	}
	places := s.maskable(c.plan)
	if len(places) == 0 {
		return false
	}
	s.active.compaction = nil
	changes := s.commit(s.context.Encode(history.Plan{Op: protocol.EditMask, Places: places}))
	s.tellSize()
	s.completed(c.item, nil)
	s.tellCompacted(c.before, protocol.CompactMask)
	s.tellContext(changes)
	s.afterCompaction()
	return true
}

// maskable are the outputs that a plan takes out, in the order of their places.
func (t *Thread) maskable(p compactPlan) (places []int) {
	for _, i := range t.context.Before(p.from) {
		c := t.context.Item(i)
		if c.IsOutput() && c.Kept() && c.InForm() && t.context.CallSent(c) && !t.context.IsPinned(c) && !t.context.Item(c.Pair()).Pinned() && t.context.ExceedsPlaceholder(i) {
			places = append(places, i)
		}
	}
	return sorted(places)
}

// afterCompaction ends the turn that was for it, or makes the request that it was made for.
func (s *step) afterCompaction() {
	if s.active.compacts {
		s.conclude(protocol.TurnCompleted, nil)
		return
	}
	s.sample()
}
