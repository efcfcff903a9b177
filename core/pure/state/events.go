package state

import (
	"encoding/json"

	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// applyEvent applies an event_msg line.
func (s *State) applyEvent(ordinal int64, line *protocol.RolloutLine) {
	event := transcript.Line{Ordinal: ordinal, Ref: s.ref(line.Payload), Usage: s.Usage}
	switch kind := peek(line.Payload, "type"); kind {
	case protocol.EventItemCompleted:
		s.showUserMessage(s.Transcript.ItemCompleted(&event))
		switch peek(line.Payload, "item.type") {
		case transcript.AgentCallType:
			s.applyAgentCall(line.Payload)
		case transcript.AgentActivityType:
			s.applyAgentActivity(line.Payload)
		}
	case protocol.EventTaskStarted, "turn_started":
		s.Waiting = nil
		s.Usage.ModelContextWindow = s.Transcript.Started(&event)
	case protocol.EventTaskComplete, "turn_complete":
		s.Waiting = nil
		s.Transcript.Completed(&event)
	case protocol.EventTurnAborted:
		s.Waiting = nil
		s.Transcript.Aborted(&event)
	case protocol.EventRolledBack:
		s.Waiting = nil
		s.applyRolledBack(ordinal, line)
	case protocol.EventTokenCount:
		s.applyUsage(ordinal, line.Payload)
	case protocol.EventSettings:
		s.applySettings(line.Payload)
	case protocol.EventNameUpdated:
		s.Name, s.NamedAt = peek(line.Payload, "thread_name"), line.Timestamp
	default:
		if s.Meta.HistoryMode != protocol.HistoryPaginated {
			s.showUserMessage(s.Transcript.LegacyEvent(kind, &event))
		}
	}
}

// showUserMessage connects the last item of the context with the thread item that shows it. The input of a
// review is in no context.
func (s *State) showUserMessage(shown transcript.Shown) {
	last := s.Context.Len() - 1
	if shown.ItemID == "" || last < 0 {
		return
	}
	if shown.TurnID == "" || s.Context.Item(last).TurnID() == shown.TurnID {
		s.Context.ShowUserMessage(shown.ItemID)
	}
}

func (s *State) applyUsage(ordinal int64, payload json.RawMessage) {
	var e protocol.TokenCount
	if protocol.Unmarshal(payload, &e) != nil {
		return
	}
	if e.Request != nil {
		s.addRequest(ordinal, s.ref(payload), e.Request)
	}
	if e.Info != nil {
		s.Context.Calibrate(s.Settings.Model, e.Info)
		s.priceReasoning(e.Info)
		s.Usage.Total = e.Info.TotalTokenUsage.Breakdown()
		s.Usage.Last = e.Info.LastTokenUsage.Breakdown()
		s.Usage.ModelContextWindow = e.Info.ModelContextWindow
	}
}

// priceReasoning applies a report of reasoning tokens. It skips events that repeat a report.
func (s *State) priceReasoning(info *protocol.TokenCountInfo) {
	reported := info.LastTokenUsage.ReasoningOutputTokens
	if total := info.TotalTokenUsage.Breakdown(); reported > 0 && total != s.Usage.Total {
		s.Context.PriceReasoning(reported)
	}
}

// applyRolledBack removes the last turns and reverts their part of the context.
func (s *State) applyRolledBack(ordinal int64, line *protocol.RolloutLine) {
	var rolled protocol.ThreadRolledBack
	if protocol.Unmarshal(line.Payload, &rolled) != nil || rolled.NumTurns == 0 || s.Transcript.TurnCount() == 0 {
		return
	}
	first := max(s.Transcript.TurnCount()-int(rolled.NumTurns), 0)
	from := s.StartOf(first)
	at := s.historyLine(ordinal, line)
	r := reverted{ordinal: ordinal, usage: s.Usage, context: s.Context.Revert(&at, from, rolled.Revision)}
	r.transcript = s.Transcript.Revert(first, from)
	s.reverts = append(s.reverts, r)
	before := r.transcript.Usage()
	s.Usage.Total, s.Usage.Last = before.Total, before.Last
}
