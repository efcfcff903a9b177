package core

import (
	"strings"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// ModelPiece is a streamed part of a model's answer.
type ModelPiece struct {
	Effect EffectID
	Piece  Piece
}

func (in ModelPiece) apply(s *step) { s.modelPiece(in) }

func (s *step) modelPiece(in ModelPiece) {
	m := s.activeRequest(in.Effect)
	switch {
	case in.Piece.Kind == PieceNotice:
		s.warn([]string{in.Piece.Text})
		return
	case in.Piece.Kind == PieceProgress:
		if m != nil {
			s.notify(protocol.TurnPromptProgressNotification{ThreadID: s.state.ID, TurnID: s.active.id,
				PromptProgress: *in.Piece.Progress})
		}
		return
	case s.isDraftRequest(in.Effect):
		if in.Piece.Kind == PieceThought {
			s.draft.answer.Reset()
		}
		if in.Piece.Kind == PieceText {
			s.draft.answer.WriteString(in.Piece.Text)
			s.notify(protocol.ThreadCompactDeltaNotification{ThreadID: s.state.ID, DraftID: s.draft.id, Delta: in.Piece.Text})
		}
		return
	case m == nil:
		return
	case m.summary:
		if in.Piece.Kind == PieceThought {
			m.answer.Reset()
		}
		if in.Piece.Kind == PieceText {
			m.answer.WriteString(in.Piece.Text)
		}
		return
	}
	switch in.Piece.Kind {
	case PieceText:
		s.messagePiece(m, in.Piece.Text)
	case PieceThought:
		s.textWasReasoning(m)
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
		switch i.Tag {
		case history.WebSearchCall:
			s.keepSearch(m, i)
		case protocol.PeerMessageType: // no provider speaks for another agent
		default:
			s.item(item)
		}
	default:
		s.item(item)
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
			m.message.plans = &planAnswer{}
		case s.reviewing() == nil:
			s.notifyStarted(s.newItem(&protocol.AgentMessageItem{ID: m.message.id}, s.Now))
		}
	}
	m.message.text.WriteString(text)
	if s.reviewing() != nil { // clients get the result when it is complete
		return
	}
	if p := m.message.plans; p != nil {
		s.addParts(m.message, p.parser.write(text))
		return
	}
	s.notify(
		&protocol.AgentMessageDeltaNotification{ThreadID: s.state.ID, TurnID: s.active.id, ItemID: m.message.id, Delta: text})
}

// textWasReasoning moves the text of the open message to a reasoning item before it. Clients have seen it as text; the
// completed message has the rest only.
func (s *step) textWasReasoning(m *modelRequest) {
	o := m.message
	if o == nil {
		return
	}
	text := o.text.String()
	o.text.Reset()
	o.retracted = true
	if o.plans != nil {
		o.plans.parser = planParser{}
		o.plans.message.Reset()
	}
	s.reasoningPiece(m, Piece{Kind: PieceReasoning, Text: text})
	s.completeReasoning(m, nil)
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
	if o.retracted && text == "" {
		if o.plans == nil && s.reviewing() == nil {
			s.completeItem(s.newItem(&protocol.AgentMessageItem{ID: o.id}, o.startedAt), nil)
		}
		return
	}
	s.item(&protocol.Message{ID: o.id, Role: protocol.RoleAssistant, Phase: phase, Echo: echo,
		Content: []protocol.ContentItem{{Type: protocol.ContentOutputText, Text: text}}})
	if r := s.reviewing(); r != nil {
		r.answer = text
		return
	}
	if p := o.plans; p != nil {
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
	shown := o.view()
	kept := &protocol.Reasoning{ID: o.id, Summary: []protocol.ReasoningText{}}
	for _, text := range shown.Summary {
		kept.Summary = append(kept.Summary, protocol.ReasoningText{Type: "summary_text", Text: text})
	}
	for _, text := range shown.Content {
		kept.Content = append(kept.Content, protocol.ReasoningText{Type: "reasoning_text", Text: text})
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
