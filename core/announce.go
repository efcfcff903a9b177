package core

import (
	"slices"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// AnnounceTurn runs the user's own program for a completed turn. It has no result.
type AnnounceTurn struct {
	TurnID, Cwd string
	// Input are the user's messages in the context, Last the agent's last one, or nil.
	Input []string
	Last  *string
}

func (AnnounceTurn) effect() {}

// announce announces a completed turn that had a model request.
func (s *step) announce(t *turn) {
	if !t.env.Announces || t.outcome.status != protocol.TurnCompleted || t.kind == compactTurn || t.kind == shellTurn {
		return
	}
	e := AnnounceTurn{TurnID: t.id, Cwd: s.state.Settings.Cwd, Input: []string{}}
	for _, place := range slices.Sorted(s.context.Shown()) {
		if s.context.InPrompt(place) && s.context.IsUserMessage(place) {
			e.Input = append(e.Input, history.TextOf(s.context.Item(place).Decode()))
		}
	}
	if t.last != nil {
		if m, ok := t.last.ThreadItemVariant.(*protocol.AgentMessageItem); ok {
			e.Last = &m.Text
		}
	}
	s.effect(e)
}
