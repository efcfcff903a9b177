package core

import (
	"cmp"
	"fmt"
	"time"

	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// CompactContext starts a turn that compacts the context. Client is the name of the client, or "".
type CompactContext struct {
	To     protocol.Caller
	Client string
	Env    TurnEnv
	// Strategy is one of protocol's Compact constants, or "" for the configured one.
	Strategy string
}

func (in CompactContext) apply(s *step) { s.compactContext(in) }

// compactable returns the context with the facts on which plans depend.
func (t *Thread) compactable() *compaction.Context {
	return &compaction.Context{History: t.context, PromptTokens: t.PromptTokens(), ActiveTurn: t.ActiveTurn(),
		Dir: t.state.Settings.Cwd}
}

// maxCompactions bounds the compactions before one request.
const maxCompactions = 3

func (s *step) compactContext(in CompactContext) {
	if s.rejectInTurn(in.To) {
		return
	}
	s.newTurn(compactTurn, in.Env)
	s.recordBegin(nil)
	s.changeSettings(s.state.Settings, s.active.id)
	s.reply(in.To, protocol.Empty{})
	s.notifyStatus()
	s.notify(protocol.TurnStartedNotification{ThreadID: s.state.ID, Turn: s.activeTurnView()})
	s.compactOnRequest(in.Client, in.Strategy)
}

// compactOnRequest compacts because a client asked for it, even if the context is small.
func (s *step) compactOnRequest(client, strategy string) {
	r := &s.active.env.Compaction
	c := s.compactable()
	plan, found := c.Whole(r, r.KeepTurns)
	if found && plan.From != none && r.Target > 0 && c.TokensAfter(r, plan) > r.Target {
		if more, ok := c.ToTarget(r, r.KeepTurns, r.Target); ok {
			plan = more
		}
	}
	s.beginCompaction(cmp.Or(strategy, r.Strategy), plan)
	s.active.compaction.client = client
	if !found {
		s.warn([]string{nothingToCompact})
		s.endCompaction()
		s.finishTurn(protocol.TurnCompleted, nil)
		return
	}
	s.compact()
}

const nothingToCompact = "There is nothing to compact: the context holds no answers and no tool results beside the turns that stay."

// compactIfNeeded compacts before a request that is too long. It returns false if the request can be
// sent. If the context cannot be made small enough, the turn fails.
func (s *step) compactIfNeeded() bool {
	t := s.active
	limit, window := t.env.Compaction.Limit, t.env.Provider.ContextWindow
	if limit == 0 && window == nil || s.fitsWithoutCounting(roomFor(&t.env)) {
		return false
	}
	tokens := s.PromptTokens()
	if limit > 0 && tokens > limit && s.compactToTarget(t.env.Compaction.Target) {
		return true
	}
	if window == nil || tokens <= *window {
		return false
	}
	s.finishTurn(protocol.TurnFailed, s.contextTooLong(tokens, *window))
	return true
}

// compactToTarget starts a compaction, or fails the turn if earlier ones did not help. It returns false if no
// compaction gains anything.
func (s *step) compactToTarget(target int64) bool {
	t := s.active
	if t.compactions >= maxCompactions {
		return false
	}
	refill := t.refill.afterCompaction()
	plan, found := s.compactable().ToTarget(&t.env.Compaction, t.env.Compaction.KeepTurns, refill.target(target))
	if !found {
		return false
	}
	if t.refill = refill; refill.refills >= maxRefills {
		s.finishTurn(protocol.TurnFailed, s.contextRefills())
		return true
	}
	t.compactions++
	s.beginCompaction(t.env.Compaction.Strategy, plan)
	s.compact()
	return true
}

// fitsWithoutCounting reports whether a request has at most room tokens even if each byte is a token. It saves
// counting.
func (s *step) fitsWithoutCounting(room int64) bool {
	bytes := int64(frameBytes)
	for i := range s.context.Shown() {
		bytes += s.context.Item(i).MaxTokens()
	}
	return int64(float64(bytes+int64(len(s.systemPrompt())))*s.context.Scale().Max()+0.5) <= room
}

// roomFor returns the greatest number of tokens of a request, or 0 if it is not known.
func roomFor(env *TurnEnv) int64 {
	limit, window := env.Compaction.Limit, env.Provider.ContextWindow
	if window != nil && (limit == 0 || *window < limit) {
		return *window
	}
	return limit
}

// frameBytes is an upper bound for the tools of a request.
const frameBytes = 8 << 10

// contextTooLong returns the error for a request that is too long. It names the largest item.
func (s *step) contextTooLong(tokens, window int64) *protocol.TurnError {
	text := fmt.Sprintf("the next request would have %d tokens, but the model's context window holds %d", tokens, window)
	if s.active.env.Compaction.Limit > 0 {
		text += ", and compacting does not help"
	} else {
		text += ", and automatic compaction is off: compact with thread/compact/start"
	}
	return s.contextError(text)
}

// contextRefills returns the error for a turn whose context is full again after each compaction.
func (s *step) contextRefills() *protocol.TurnError {
	return s.contextError(fmt.Sprintf("the context was full again after each of %d compactions of this turn: "+
		"the next request would have %d tokens", maxRefills, s.PromptTokens()))
}

// contextError returns an error of the context with the largest item, which fills it.
func (s *step) contextError(text string) *protocol.TurnError {
	largest, most := none, int64(0)
	for i := range s.context.Shown() {
		if price := s.context.SentTokens(i); price > most {
			largest, most = i, price
		}
	}
	if largest != none {
		text += fmt.Sprintf(": item %s (%s) alone has %d. Take it out with context/setInclusion, or shorten it with "+
			"context/replace, and go on", s.context.Item(largest).ID(), s.context.Category(largest), most)
	}
	return &protocol.TurnError{Message: text,
		CodexErrorInfo: &protocol.CodexErrorInfo{Kind: protocol.ErrorContextWindowExceeded}}
}

func (s *step) beginCompaction(strategy string, p compaction.Plan) {
	c := s.newCompaction(&s.active.env.Compaction, strategy, p)
	c.item = s.newItem(&protocol.ContextCompactionItem{ID: s.NewID()}, s.Now)
	s.becomeCompacting(c)
	s.notifyStarted(c.item)
}

func (s *step) newCompaction(rules *compaction.Rules, strategy string, p compaction.Plan) *runningCompaction {
	c := s.compactable()
	return &runningCompaction{rules: rules, strategy: strategy, plan: p, span: c.Span(p), began: s.Now,
		tokensBefore: c.PromptTokens, revision: s.context.Revision(), items: s.context.Len(), from: s.state.Next}
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

// runningCompaction is a compaction of the active turn, or the draft of one.
type runningCompaction struct {
	// client is the name of the client that asked for it, or "".
	client   string
	rules    *compaction.Rules
	strategy string
	plan     compaction.Plan
	span     compaction.Span
	began    time.Time
	// tokensBefore is the cost of the next request without the compaction.
	tokensBefore int64
	// item is the thread item that shows it, or nil for a draft.
	item *protocol.ThreadItem
	// revision and items identify the context for which it was planned. from is the ordinal of the first
	// line after it.
	revision int64
	items    int
	from     int64
}

// summarize makes a summary without a model, and returns the strategy that made it.
func (c *runningCompaction) summarize() (text, strategy string) {
	if c.strategy == protocol.CompactUserMessages {
		return c.rules.Requests(&c.span), protocol.CompactUserMessages
	}
	return c.rules.Extract(&c.span), protocol.CompactLocal
}

// commitCompaction replaces the planned items by a summary and continues the turn. A compaction that
// no client asked for is dropped if it gains nothing.
func (s *step) commitCompaction(text, strategy string) {
	c := s.active.compaction
	audit := c.rules.Audit(&c.span, text)
	p := s.pointOf(c, &audit)
	switch {
	case p.SavedTokens > 0:
	case s.active.kind == compactTurn:
		s.warn([]string{"The summary is longer than what it stands for: take the compaction back with context/undo if that is not what you want."})
	default:
		s.active.compactions = maxCompactions
		s.endCompaction()
		s.becomePreparing(s.active)
		s.requestModel()
		return
	}
	cut := s.writeCompaction(p, audit.Text, strategy, s.Now.Sub(c.began))
	s.recordSize()
	s.completeItem(c.item, nil)
	s.notifyCompacted(c.tokensBefore, strategy, &audit)
	s.notifyTrim(cut)
	s.contextChanged(s.lastChanges())
	s.afterCompaction()
}

// endCompaction ends the compaction of the active turn and leaves the context unchanged.
func (s *step) endCompaction() {
	s.completeItem(s.active.compaction.item, nil)
}

// pointOf returns the trim point of a compaction. Items that joined after it was planned stay, because
// the summary does not cover them.
func (s *step) pointOf(c *runningCompaction, audit *compaction.Audit) protocol.StoredTrimPoint {
	from := c.plan.From
	if from == none && c.items < s.context.Len() {
		from = c.items
	}
	p := s.planTrim(from, protocol.TrimCompaction, c.plan.Words...)
	p.SavedTokens -= s.priceOf(audit.Text)
	p.Rules, p.ClientName = audit.Rules, c.client
	return p
}

// writeCompaction appends the line of a compaction and a new provider session. took is the time that
// the summary took.
func (s *step) writeCompaction(p protocol.StoredTrimPoint, text, strategy string, took time.Duration) *trimChange {
	cut := s.beginTrim()
	s.record(protocol.LineCompacted,
		protocol.Compacted{Message: history.SummaryHead + text, TrimPoint: &p, Strategy: strategy})
	s.out.Sync = true
	s.endTrim(cut, new(took.Milliseconds()))
	return cut
}

// recordSize records the new cost of the context as the usage of the last request. Clients show that
// figure.
func (s *step) recordSize() {
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Info: &protocol.TokenCountInfo{
		TotalTokenUsage: s.state.Usage.Total.Stored(), LastTokenUsage: protocol.StoredUsage{TotalTokens: s.PromptTokens()},
		ModelContextWindow: s.state.Usage.ModelContextWindow,
	}})
	s.notifyUsage(s.state.CurrentTurn())
}

// notifyCompacted notifies clients of the result of a compaction.
func (s *step) notifyCompacted(before int64, strategy string, audit *compaction.Audit) {
	s.notify(protocol.ContextCompactedNotification{ThreadID: s.state.ID, TurnID: s.state.CurrentTurn(),
		OldTokenCount: before, NewTokenCount: s.PromptTokens(), Strategy: strategy,
		RulesAdded: audit.RulesAdded, Losses: audit.Losses, LossesOmitted: audit.Omitted})
}

// mask replaces old outputs by placeholders. It returns false if that does not suffice.
func (s *step) mask(c *runningCompaction) bool {
	target := s.active.env.Compaction.Target
	context := s.compactable()
	if target > 0 && context.Masked(c.plan) > target && s.active.kind != compactTurn {
		return false
	}
	places := context.Maskable(c.plan)
	if len(places) == 0 {
		return false
	}
	audit := context.AuditMask(c.plan, places)
	changes := s.commitEdit(s.maskLine(c))
	s.recordSize()
	s.completeItem(c.item, nil)
	s.notifyCompacted(c.tokensBefore, protocol.CompactMask, &audit)
	s.contextChanged(changes)
	s.afterCompaction()
	return true
}

// maskLine returns the edit that replaces the outputs of a compaction by placeholders.
func (s *step) maskLine(c *runningCompaction) protocol.StoredContextEdit {
	line := s.context.Encode(history.Plan{Op: protocol.EditMask, Places: s.compactable().Maskable(c.plan)})
	line.ClientName = c.client
	return line
}

// afterCompaction ends the turn if a client asked for the compaction. Otherwise it sends the model
// request.
func (s *step) afterCompaction() {
	if s.active.kind == compactTurn {
		s.finishTurn(protocol.TurnCompleted, nil)
		return
	}
	s.becomePreparing(s.active)
	s.requestModel()
}

// askSummary asks the model for a summary.
func (s *step) askSummary() {
	t := s.active
	id := s.newEffect()
	s.becomeSummarizing(&modelRequest{effect: id, summary: true})
	t.modelEffects = append(t.modelEffects, id)
	s.sendSummaryRequest(t.compaction, t.env.Provider.ContextWindow, ModelRequest{ID: id, TurnID: t.id})
}

// sendSummaryRequest asks a model for the summary of a compaction.
func (s *step) sendSummaryRequest(c *runningCompaction, window *int64, e ModelRequest) {
	e.Prompt = s.summaryPrompt(c, window)
	s.sendRequest(protocol.StoredRequest{Kind: protocol.RequestCompaction, From: c.from,
		Span: s.storedSpan(c.plan, window)}, e)
}

// summaryPrompt returns the request for the summary of a compaction, within the model's window.
func (t *Thread) summaryPrompt(c *runningCompaction, window *int64) *Prompt {
	p := t.request()
	p.Instructions, p.Tools, p.WebSearch, p.OutputSchema, p.Summarises = compaction.SummaryPrompt, nil, nil, nil, true
	if c.rules.Prompt != "" {
		p.Instructions = c.rules.Prompt
	}
	p.Items = summaryInput(t.compactable(), &c.span, p.Instructions, window)
	return p
}

// summaryDone uses the model's summary, or makes one without the model.
func (s *step) summaryDone(m *modelRequest, sent *protocol.StoredRequest, in ModelDone) {
	t := s.active
	s.addUsage(in.Answer.Usage, history.Tokens{}, sent)
	if in.Answer.Usage != nil {
		s.notifyUsage(t.id)
	}
	s.out.Sync = true
	text, flaw := t.compaction.rules.Accept(&t.compaction.span, m.answer.String(), in.Answer.Cut)
	switch {
	case s.context.Revision() != t.compaction.revision:
		s.compactAgain()
	case flaw != "":
		s.summarizeWithoutModel(flaw)
	default:
		s.active.attempts = attempts{}
		s.commitCompaction(text, protocol.CompactSummary)
	}
}

// compactAgain plans the compaction again, because an edit changed the context while the model wrote
// its summary.
func (s *step) compactAgain() {
	t, former := s.active, s.active.compaction
	s.recordSize()
	s.endCompaction()
	switch {
	case t.kind != compactTurn:
		s.becomePreparing(t)
		s.requestModel()
	case t.compactions < maxCompactions:
		t.compactions++
		s.compactOnRequest(former.client, former.strategy)
	default:
		s.warn([]string{"The context was changed again and again while its summary was written: nothing is compacted."})
		s.finishTurn(protocol.TurnCompleted, nil)
	}
}

// summarizeWithoutModel makes the summary without the model, and warns with the reason.
func (s *step) summarizeWithoutModel(why string) {
	s.active.retries, s.active.silent = 0, 0
	s.warn([]string{summaryFailed(why)})
	c := s.active.compaction
	s.commitCompaction(c.rules.Extract(&c.span), protocol.CompactLocal)
}

func summaryFailed(why string) string {
	return fmt.Sprintf("The model could not summarise the conversation (%s): an extract that was made without it stands in its place.", why)
}

// summaryInput returns the items of a request for the summary of a span.
func summaryInput(
	c *compaction.Context, span *compaction.Span, instructions string, window *int64,
) []protocol.ResponseItem {
	text := c.Transcript(span, instructions, window)
	return []protocol.ResponseItem{{ResponseItemVariant: history.UserMessage(text)}}
}
