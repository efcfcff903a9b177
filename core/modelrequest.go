package core

import (
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

// modelRequest is a model request under way, and the items its answer has begun.
type modelRequest struct {
	effect EffectID
	// revision and items are the context's when the request was made.
	revision  int64
	items     int
	message   *openMessage
	reasoning *openReasoning
	searches  []openSearch // of the provider, that have begun
	// summary is set for a request for a summary, answer is its text.
	summary bool
	answer  strings.Builder
}

// openMessage is an item whose text is still coming.
type openMessage struct {
	id        string
	startedAt time.Time
	text      strings.Builder
	// proposal is set of an answer in plan mode.
	proposal *proposal
}

// openReasoning is a reasoning item whose text is still coming: the parts of its summary, and the raw
// text.
type openReasoning struct {
	id        string
	startedAt time.Time
	summary   []*strings.Builder
	content   strings.Builder
}

// requestModel asks the model for the next answer, once there is room for the request.
func (s *step) requestModel() {
	t := s.active
	if t.compaction != nil { // the next try
		s.askSummary()
		return
	}
	r := s.reviewing()
	if r == nil && s.compactIfNeeded() {
		return
	}
	id := s.newEffect()
	t.request, t.calls = &modelRequest{effect: id, revision: s.context.Revision(), items: s.context.Len()}, nil
	t.modelEffects = append(t.modelEffects, id)
	answered := t.notBefore.Add(-s.options.CompletedFloor)
	if r != nil {
		s.effect(ModelRequest{ID: id, TurnID: t.id, Prompt: s.reviewRequest(r), Answered: answered})
		return
	}
	s.effect(ModelRequest{ID: id, TurnID: t.id, Prompt: s.Prompt(), Answered: answered})
}

// activeRequest is the model request that the effect belongs to, nil when it is not
// waited for any more.
func (s *step) activeRequest(id EffectID) *modelRequest {
	if s.active == nil || s.active.request == nil || s.active.request.effect != id {
		return nil
	}
	return s.active.request
}

// endRequest is the request that an effect has ended; nil where nobody waits for its answer any
// more, which may end the turn.
func (s *step) endRequest(id EffectID) *modelRequest {
	m := s.activeRequest(id)
	if s.active == nil || !removeEffect(&s.active.modelEffects, id) {
		return nil
	}
	if m == nil {
		s.completeWhenIdle()
	}
	return m
}

// isDraftRequest tells whether the draft of a compaction waits for the model request.
func (s *step) isDraftRequest(id EffectID) bool { return s.draft.waits() && s.draft.request == id }

// removeEffect notes the terminal input of an effect. It is false where the effect is none
// of those.
func removeEffect(effects *[]EffectID, id EffectID) bool {
	i := slices.Index(*effects, id)
	if i < 0 {
		return false
	}
	*effects = slices.Delete(*effects, i, i+1)
	return true
}

func (s *step) modelPiece(in ModelPiece) {
	m := s.activeRequest(in.Effect)
	switch {
	case s.isDraftRequest(in.Effect):
		if in.Piece.Kind == PieceText {
			s.draft.answer.WriteString(in.Piece.Text)
		}
		return
	case m == nil:
		return
	case m.summary:
		if in.Piece.Kind == PieceText {
			m.answer.WriteString(in.Piece.Text)
		}
		return
	}
	switch in.Piece.Kind {
	case PieceText:
		s.messagePiece(m, in.Piece.Text)
	case PieceItemBegun:
		s.beginItem(m, in.Piece.Item.ResponseItemVariant)
	case PieceItem:
		s.itemPiece(m, in.Piece.Item.ResponseItemVariant)
	default:
		s.reasoningPiece(m, in.Piece)
	}
}

// itemPiece takes an item that is whole, as the provider gave it.
func (s *step) itemPiece(m *modelRequest, item protocol.ResponseItemVariant) {
	switch i := item.(type) {
	case *protocol.Reasoning:
		s.currentReasoning(m)
		s.completeReasoning(m, i)
	case *protocol.Message:
		s.completeReasoning(m, nil)
		m.message.replaceText(i.Content)
		s.completeMessage(m, nil, i.Phase)
	case *protocol.Unknown:
		if i.Tag == webSearchCall {
			s.keepSearch(m, i)
			return
		}
		s.item(item)
	default:
		s.item(item)
	}
}

// replaceText replaces a text that came in pieces by that of the whole message, which the provider knows
// from then on. A proposal stays, since its parts are shown already, and so does a text with a
// refusal, which is no text of the whole message.
func (o *openMessage) replaceText(whole []protocol.ContentItem) {
	if o == nil || len(whole) == 0 || o.proposal != nil {
		return
	}
	var text strings.Builder
	for _, part := range whole {
		if part.Raw != nil {
			return
		}
		text.WriteString(part.Text)
	}
	if text.Len() > 0 {
		o.text = text
	}
}

// replaceText replaces texts that came in pieces by those of the whole item.
func (o *openReasoning) replaceText(given *protocol.Reasoning) {
	if len(given.Summary) > 0 {
		o.summary = o.summary[:0]
		for _, part := range given.Summary {
			text := &strings.Builder{}
			text.WriteString(part.Text)
			o.summary = append(o.summary, text)
		}
	}
	if len(given.Content) > 0 {
		o.content.Reset()
		for _, part := range given.Content {
			o.content.WriteString(part.Text)
		}
	}
}

func (s *step) messagePiece(m *modelRequest, text string) {
	if text == "" {
		return
	}
	if m.message == nil {
		s.completeReasoning(m, nil)
		m.message = &openMessage{id: "msg_" + s.NewID(), startedAt: s.Now}
		switch {
		case s.splitsPlans():
			m.message.proposal = &proposal{}
		case s.reviewing() == nil:
			s.notifyStarted(s.newItem(&protocol.AgentMessageItem{ID: m.message.id}, s.Now))
		}
	}
	m.message.text.WriteString(text)
	if s.reviewing() != nil { // the result is shown when it is whole
		return
	}
	if p := m.message.proposal; p != nil {
		s.addParts(m.message, p.parser.write(text))
		return
	}
	s.notify(&protocol.AgentMessageDeltaNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: m.message.id, Delta: text})
}

// reasoningPiece takes a piece of reasoning. Each part of a summary is announced before its text.
func (s *step) reasoningPiece(m *modelRequest, p Piece) {
	if p.Text == "" && p.Kind != PieceSummaryPart {
		return
	}
	o := s.currentReasoning(m)
	if p.Kind == PieceReasoning {
		o.content.WriteString(p.Text)
		s.notify(&protocol.ReasoningTextDeltaNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: o.id, Delta: p.Text})
		return
	}
	if p.Kind == PieceSummaryPart || len(o.summary) == 0 {
		s.notify(protocol.ReasoningSummaryPartAddedNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: o.id, SummaryIndex: len(o.summary)})
		o.summary = append(o.summary, &strings.Builder{})
	}
	if p.Text != "" {
		last := len(o.summary) - 1
		o.summary[last].WriteString(p.Text)
		s.notify(&protocol.ReasoningSummaryTextDeltaNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: o.id, SummaryIndex: last, Delta: p.Text})
	}
}

// currentReasoning is the reasoning item under way, which begins now if there is none.
func (s *step) currentReasoning(m *modelRequest) *openReasoning {
	if m.reasoning == nil {
		m.reasoning = &openReasoning{id: "rs_" + s.NewID(), startedAt: s.Now}
		s.notifyStarted(s.newItem(&protocol.ReasoningItem{ID: m.reasoning.id, Summary: []string{}, Content: []string{}}, s.Now))
	}
	return m.reasoning
}

// completeReasoning ends the reasoning item under way, if any. given is the item of the provider, nil
// if it gave text only.
func (s *step) completeReasoning(m *modelRequest, given *protocol.Reasoning) {
	o := m.reasoning
	if o == nil {
		return
	}
	m.reasoning = nil
	if given != nil {
		o.replaceText(given)
	}
	shown := &protocol.ReasoningItem{ID: o.id, Summary: []string{}, Content: []string{}}
	kept := &protocol.Reasoning{ID: o.id, Summary: []protocol.ReasoningText{}}
	for _, part := range o.summary {
		shown.Summary = append(shown.Summary, part.String())
		kept.Summary = append(kept.Summary, protocol.ReasoningText{Type: "summary_text", Text: part.String()})
	}
	if o.content.Len() > 0 {
		shown.Content = []string{o.content.String()}
		kept.Content = []protocol.ReasoningText{{Type: "reasoning_text", Text: o.content.String()}}
	}
	if given != nil {
		kept.EncryptedContent = given.EncryptedContent
	}
	s.item(kept)
	s.completeItem(s.newItem(shown, o.startedAt), nil)
	for _, text := range append(shown.Summary, shown.Content...) {
		s.event(protocol.ReasoningEvent{Type: protocol.EventAgentReasoning, Text: text})
	}
}

// completeMessage ends the message under way, if any. echo is what its provider wants back with it,
// phase is the message's, "" if the provider gives none.
func (s *step) completeMessage(m *modelRequest, echo *protocol.ProviderEcho, phase string) {
	o := m.message
	if o == nil {
		return
	}
	m.message = nil
	text := o.text.String()
	s.item(&protocol.Message{ID: o.id, Role: protocol.RoleAssistant, Phase: phase, Echo: echo,
		Content: []protocol.ContentItem{{Type: protocol.ContentOutputText, Text: text}}})
	if r := s.reviewing(); r != nil {
		r.answer = text
		return
	}
	if p := o.proposal; p != nil {
		s.addParts(o, p.parser.close())
		s.completePlan(p)
		if !p.begun {
			return
		}
		text, o.startedAt = p.message.String(), p.messageBegan
	}
	item := s.newItem(&protocol.AgentMessageItem{ID: o.id, Text: text, Phase: optional(phase)}, o.startedAt)
	s.completeItem(item, nil)
	s.event(protocol.TextEvent{Type: protocol.EventAgentMessage, Message: text})
	s.active.last = item
}

func (s *step) modelDone(in ModelDone) {
	if s.isDraftRequest(in.Effect) {
		s.draftDone(in)
		return
	}
	m := s.endRequest(in.Effect)
	if m == nil {
		return
	}
	if m.summary {
		s.summaryDone(m, in)
		return
	}
	s.active.request, s.active.retries, s.active.silent, s.active.compactions = nil, 0, 0, 0
	counted := int64(0)
	if in.Answer.Usage != nil {
		counted = s.countedInput(m)
	}
	if in.Answer.echoes() && s.context.WasAnnounced(m.items) { // reasoning of this answer may be told as not sent
		s.context.MarkStale()
	}
	s.completeReasoning(m, nil)
	s.completeMessage(m, in.Answer.Echo, "")
	if in.Answer.Usage != nil {
		s.addUsage(in.Answer.Usage, counted)
	}
	s.out.Sync = true
	if in.Answer.Cut != "" {
		s.warn([]string{"The model's answer is not whole: " + in.Answer.Cut})
	}
	if len(in.Answer.Calls) == 0 {
		s.endReview()
		s.finishTurn(protocol.TurnCompleted, nil)
		return
	}
	if in.Answer.Usage != nil {
		s.notifyUsage(s.active.id)
	}
	s.addCalls(in.Answer.Calls)
}

// uncountedLimit is how many bytes of items may be counted within a turn: some
// milliseconds' worth.
const uncountedLimit = 256 << 10

// countedInput is our own count of a request whose answer has come: 0 where the context
// has changed since, and where counting would hold up the turn's end.
func (s *step) countedInput(m *modelRequest) int64 {
	if s.active.review != nil || m.revision != s.context.Revision() || s.context.Uncounted() > uncountedLimit {
		return 0
	}
	return s.counted(m.items)
}

func (s *step) addUsage(u *protocol.TokenUsageBreakdown, counted int64) {
	window := s.usage.ModelContextWindow
	if s.active != nil {
		s.active.hasUsage, window = true, s.active.env.Provider.ContextWindow
	}
	info := &protocol.TokenCountInfo{
		TotalTokenUsage: s.usage.Total.Add(*u).Stored(), LastTokenUsage: u.Stored(),
		ModelContextWindow: window, CountedInputTokens: counted,
		CountedByModel: counted > 0 && s.context.Tokenizer().Known(s.settings.Model),
	}
	if s.active != nil && s.active.review != nil { // the last request of the thread itself stays its last
		info.LastTokenUsage = s.usage.Last.Stored()
	}
	scale, reasoning := s.context.Scale(), s.context.FirstEstimated()
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Info: info})
	if s.context.Scale() != scale || s.context.WasAnnounced(reasoning) {
		s.context.MarkStale()
	}
}

func (s *step) notifyUsage(turnID string) {
	s.notify(protocol.ThreadTokenUsageUpdatedNotification{ThreadID: s.id, TurnID: turnID, TokenUsage: s.usage})
}

// modelFailed tries again where that makes sense, and fails the turn otherwise.
// What had streamed in of the answer is dropped.
func (s *step) modelFailed(in ModelFailed) {
	if s.isDraftRequest(in.Effect) {
		s.draftWithoutModel(in.Err.Message)
		return
	}
	m := s.endRequest(in.Effect)
	if m == nil {
		return
	}
	s.active.request = nil
	if !s.retry(in.Err) {
		s.failRequest(in.Err)
	}
}

// failRequest ends the turn, but for a compaction, which goes on without the model, and for a
// request that was too long for the model, which is tried again after a compaction.
func (s *step) failRequest(err *ModelError) {
	switch {
	case s.active.compaction != nil:
		s.summarizeWithoutModel(err.Message)
	case s.active.review == nil && err.Info.Kind == protocol.ErrorContextWindowExceeded && s.compactToTarget(s.PromptTokens()*6/10):
	default:
		s.finishTurn(protocol.TurnFailed, turnError(err.Message, err))
	}
}

func turnError(message string, err *ModelError) *protocol.TurnError {
	info := err.Info
	return &protocol.TurnError{Message: message, CodexErrorInfo: &info, AdditionalDetails: optional(err.Details)}
}

// newItem is an item that began at the given time.
func (s *step) newItem(v protocol.ThreadItemVariant, at time.Time) *protocol.ThreadItem {
	return &protocol.ThreadItem{ThreadItemVariant: v, StartedAtMs: new(at.UnixMilli())}
}

func (s *step) notifyStarted(item *protocol.ThreadItem) {
	s.notify(protocol.ItemStartedNotification{Item: *item, ThreadID: s.id, TurnID: s.active.id, StartedAtMs: *item.StartedAtMs})
}

// completeItem records and tells the final state of an item.
func (s *step) completeItem(item *protocol.ThreadItem, argv []string) {
	s.completeItemIn(s.active.id, item, argv)
}

// completeItemIn is completed for an item of a turn that may be over.
func (s *step) completeItemIn(turnID string, item *protocol.ThreadItem, argv []string) {
	s.completeItemAs(turnID, item, storeItem(*item, argv))
}

// completeItemAs does so with what the rollout keeps of the item.
func (s *step) completeItemAs(turnID string, item *protocol.ThreadItem, stored any) {
	now := s.Now.UnixMilli()
	item.CompletedAtMs = &now
	raw, err := protocol.Marshal(stored)
	if err != nil {
		return
	}
	s.event(protocol.ItemCompleted{Type: protocol.EventItemCompleted, ThreadID: s.id, TurnID: turnID,
		Item: raw, StartedAtMs: item.StartedAtMs, CompletedAtMs: &now})
	s.out.Sync = true
	s.notify(protocol.ItemCompletedNotification{Item: *item, ThreadID: s.id, TurnID: turnID, CompletedAtMs: now})
}
