package core

import (
	"encoding/json"

	"appserver/core/transcript"
	"appserver/protocol"
)

// applyEvent applies an event_msg line.
func (l *log) applyEvent(ordinal int64, line *protocol.RolloutLine) {
	event := transcript.Line{Ordinal: ordinal, Ref: l.ref(none, line.Payload), Usage: l.usage}
	switch kind := peek(line.Payload, "type"); kind {
	case protocol.EventItemCompleted:
		l.showUserMessage(l.transcript.ItemCompleted(&event))
	case protocol.EventTaskStarted, "turn_started":
		l.usage.ModelContextWindow = l.transcript.Started(&event)
	case protocol.EventTaskComplete, "turn_complete":
		l.transcript.Completed(&event)
	case protocol.EventTurnAborted:
		l.transcript.Aborted(&event)
	case protocol.EventRolledBack:
		l.applyRolledBack(ordinal, line)
	case protocol.EventTokenCount:
		l.applyUsage(line.Payload)
	case protocol.EventSettings:
		l.applySettings(line.Payload)
	case protocol.EventNameUpdated:
		l.name, l.namedAt = peek(line.Payload, "thread_name"), line.Timestamp
	default:
		if l.meta.HistoryMode != protocol.HistoryPaginated {
			l.showUserMessage(l.transcript.LegacyEvent(kind, &event))
		}
	}
}

// showUserMessage connects the last item of the context with the thread item that shows it. The input of a
// review is in no context.
func (l *log) showUserMessage(shown transcript.Shown) {
	last := l.context.Len() - 1
	if shown.ItemID == "" || last < 0 {
		return
	}
	if shown.TurnID == "" || l.context.Item(last).TurnID() == shown.TurnID {
		l.context.ShowUserMessage(shown.ItemID)
	}
}

func (l *log) applyUsage(payload json.RawMessage) {
	var e protocol.TokenCount
	if protocol.Unmarshal(payload, &e) == nil && e.Info != nil {
		l.context.Calibrate(l.settings.Model, e.Info)
		l.priceReasoning(e.Info)
		l.usage.Total = e.Info.TotalTokenUsage.Breakdown()
		l.usage.Last = e.Info.LastTokenUsage.Breakdown()
		l.usage.ModelContextWindow = e.Info.ModelContextWindow
	}
}

// priceReasoning applies a report of reasoning tokens. It skips events that repeat a report.
func (l *log) priceReasoning(info *protocol.TokenCountInfo) {
	reported := info.LastTokenUsage.ReasoningOutputTokens
	if total := info.TotalTokenUsage.Breakdown(); reported > 0 && total != l.usage.Total {
		l.context.PriceReasoning(reported)
	}
}

func userItem(id, text string) protocol.ThreadItem {
	return protocol.ThreadItem{ThreadItemVariant: &protocol.UserMessageItem{ID: id, Content: plainInput(text)}}
}

func plainInput(text string) []protocol.UserInput {
	return []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: text,
		TextElements: []protocol.TextElement{}}}}
}
