package core

import (
	"slices"
	"strings"
	"time"

	"appserver/core/transcript"
	"appserver/protocol"
)

func (in ModelPiece) apply(s *step)  { s.modelPiece(in) }
func (in ModelDone) apply(s *step)   { s.modelDone(in) }
func (in ModelFailed) apply(s *step) { s.modelFailed(in) }

// modelRequest is an active model request, with the open items of its answer.
type modelRequest struct {
	effect EffectID
	// revision and items identify the context for which the request was built.
	revision  int64
	items     int
	message   *openMessage
	reasoning *openReasoning
	searches  []openSearch // started searches of the provider
	// summary is set for a request for a summary. answer is its text.
	summary bool
	answer  strings.Builder
}

// openMessage is a message whose text streams in.
type openMessage struct {
	id        string
	startedAt time.Time
	text      strings.Builder
	// proposal is set in plan mode, or nil.
	proposal *proposal
}

// openReasoning is a reasoning item that streams in: the parts of its summary, and its raw text.
type openReasoning struct {
	id        string
	startedAt time.Time
	summary   []*strings.Builder
	content   strings.Builder
}

// requestModel sends the next model request, after an automatic compaction if one is due.
func (s *step) requestModel() {
	t := s.active
	if t.compaction != nil { // a retry of its request
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

// activeRequest returns the model request of the effect, or nil if it was cancelled.
func (s *step) activeRequest(id EffectID) *modelRequest {
	if s.active == nil || s.active.request == nil || s.active.request.effect != id {
		return nil
	}
	return s.active.request
}

// endRequest removes the effect and returns its model request, or nil if it was cancelled. It can
// complete the turn.
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

// isDraftRequest reports whether the effect summarises for a draft of a compaction.
func (s *step) isDraftRequest(id EffectID) bool { return s.draft.waits() && s.draft.request == id }

// removeEffect removes an effect that ended. It returns false for an unknown effect.
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

// itemPiece adds a complete item of the provider.
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

// replaceText replaces the streamed text by the text of the complete message, which the provider
// knows from now on. A proposal stays, since its parts were sent already. A text with a refusal
// stays, since the message has only a part of it.
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

// replaceText replaces the streamed texts by the texts of the complete item.
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
	if s.reviewing() != nil { // clients get the result when it is complete
		return
	}
	if p := m.message.proposal; p != nil {
		s.addParts(m.message, p.parser.write(text))
		return
	}
	s.notify(
		&protocol.AgentMessageDeltaNotification{ThreadID: s.state.ID, TurnID: s.active.id, ItemID: m.message.id, Delta: text})
}

// reasoningPiece adds a piece of reasoning. Each part of a summary is announced before its text.
func (s *step) reasoningPiece(m *modelRequest, p Piece) {
	if p.Text == "" && p.Kind != PieceSummaryPart {
		return
	}
	o := s.currentReasoning(m)
	if p.Kind == PieceReasoning {
		o.content.WriteString(p.Text)
		s.notify(&protocol.ReasoningTextDeltaNotification{ThreadID: s.state.ID, TurnID: s.active.id, ItemID: o.id,
			Delta: p.Text})
		return
	}
	if p.Kind == PieceSummaryPart || len(o.summary) == 0 {
		s.notify(protocol.ReasoningSummaryPartAddedNotification{
			ThreadID:     s.state.ID,
			TurnID:       s.active.id,
			ItemID:       o.id,
			SummaryIndex: len(o.summary),
		})
		o.summary = append(o.summary, &strings.Builder{})
	}
	if p.Text != "" {
		last := len(o.summary) - 1
		o.summary[last].WriteString(p.Text)
		s.notify(&protocol.ReasoningSummaryTextDeltaNotification{
			ThreadID:     s.state.ID,
			TurnID:       s.active.id,
			ItemID:       o.id,
			SummaryIndex: last,
			Delta:        p.Text,
		})
	}
}

// currentReasoning returns the open reasoning item. It begins one if there is none.
func (s *step) currentReasoning(m *modelRequest) *openReasoning {
	if m.reasoning == nil {
		m.reasoning = &openReasoning{id: "rs_" + s.NewID(), startedAt: s.Now}
		s.notifyStarted(
			s.newItem(&protocol.ReasoningItem{ID: m.reasoning.id, Summary: []string{}, Content: []string{}}, s.Now))
	}
	return m.reasoning
}

// completeReasoning completes the open reasoning item, if any. given is the provider's item, or nil
// if it sent text only.
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

// completeMessage completes the open message, if any. echo is what the provider needs back with it,
// or nil. phase is the phase of the message, or "".
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
	item := s.newItem(&protocol.AgentMessageItem{ID: o.id, Text: text, Phase: protocol.OrNil(phase)}, o.startedAt)
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
	if in.Answer.echoes() && s.context.WasAnnounced(m.items) { // reasoning of this answer may be announced as not sent
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

// uncountedLimit bounds the bytes of items that are counted within a turn. They take some
// milliseconds.
const uncountedLimit = 256 << 10

// countedInput returns the server's own count of a request that was answered. It is 0 if the
// context changed, or if counting would delay the turn's end.
func (s *step) countedInput(m *modelRequest) int64 {
	if s.active.review != nil || m.revision != s.context.Revision() || s.context.Uncounted() > uncountedLimit {
		return 0
	}
	return s.counted(m.items)
}

func (s *step) addUsage(u *protocol.TokenUsageBreakdown, counted int64) {
	window := s.state.Usage.ModelContextWindow
	if s.active != nil {
		s.active.hasUsage, window = true, s.active.env.Provider.ContextWindow
	}
	info := &protocol.TokenCountInfo{
		TotalTokenUsage: s.state.Usage.Total.Add(*u).Stored(), LastTokenUsage: u.Stored(),
		ModelContextWindow: window, CountedInputTokens: counted,
		CountedByModel: counted > 0 && s.context.Tokenizer().Known(s.state.Settings.Model),
	}
	if s.active != nil && s.active.review != nil { // a review does not change the last request of the thread
		info.LastTokenUsage = s.state.Usage.Last.Stored()
	}
	scale, reasoning := s.context.Scale(), s.context.FirstEstimated()
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Info: info})
	if s.context.Scale() != scale || s.context.WasAnnounced(reasoning) {
		s.context.MarkStale()
	}
}

func (s *step) notifyUsage(turnID string) {
	s.notify(protocol.ThreadTokenUsageUpdatedNotification{ThreadID: s.state.ID, TurnID: turnID, TokenUsage: s.state.Usage})
}

// modelFailed retries the request or fails the turn. The partial answer is dropped.
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

// failRequest fails the turn. A compaction continues without the model. A request that was too long
// is sent again after a compaction.
func (s *step) failRequest(err *ModelError) {
	switch {
	case s.active.compaction != nil:
		s.summarizeWithoutModel(err.Message)
	case s.active.review == nil && err.Info.Kind == protocol.ErrorContextWindowExceeded &&
		s.compactToTarget(s.PromptTokens()*6/10):
	default:
		s.finishTurn(protocol.TurnFailed, turnError(err.Message, err))
	}
}

func turnError(message string, err *ModelError) *protocol.TurnError {
	info := err.Info
	return &protocol.TurnError{Message: message, CodexErrorInfo: &info, AdditionalDetails: protocol.OrNil(err.Details)}
}

// newItem returns an item that started at the time.
func (s *step) newItem(v protocol.ThreadItemVariant, at time.Time) *protocol.ThreadItem {
	return &protocol.ThreadItem{ThreadItemVariant: v, StartedAtMs: new(at.UnixMilli())}
}

func (s *step) notifyStarted(item *protocol.ThreadItem) {
	s.notify(
		protocol.ItemStartedNotification{Item: *item, ThreadID: s.state.ID, TurnID: s.active.id,
			StartedAtMs: *item.StartedAtMs})
}

// completeItem records and sends the final state of an item.
func (s *step) completeItem(item *protocol.ThreadItem, argv []string) {
	s.completeItemIn(s.active.id, item, argv)
}

// completeItemIn is completeItem for a turn that can be completed.
func (s *step) completeItemIn(turnID string, item *protocol.ThreadItem, argv []string) {
	s.completeItemAs(turnID, item, transcript.EncodeItem(*item, argv))
}

// completeItemAs is completeItemIn with the rollout's form of the item.
func (s *step) completeItemAs(turnID string, item *protocol.ThreadItem, stored any) {
	now := s.Now.UnixMilli()
	item.CompletedAtMs = &now
	raw, err := protocol.Marshal(stored)
	if err != nil {
		return
	}
	s.event(protocol.ItemCompleted{Type: protocol.EventItemCompleted, ThreadID: s.state.ID, TurnID: turnID,
		Item: raw, StartedAtMs: item.StartedAtMs, CompletedAtMs: &now})
	s.out.Sync = true
	s.notify(protocol.ItemCompletedNotification{Item: *item, ThreadID: s.state.ID, TurnID: turnID, CompletedAtMs: now})
}
