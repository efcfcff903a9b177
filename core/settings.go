package core

import (
	"bytes"

	"appserver/protocol"
)

// changeSettings records the settings of a turn, or of a thread before its first turn ("").
func (s *step) changeSettings(next Settings, turnID string) {
	s.record(protocol.LineTurnContext, next.TurnContext(turnID))
	applied := protocol.SettingsApplied{Type: protocol.EventSettings, ThreadID: s.state.ID, ThreadSettings: next.Stored()}
	if raw, err := protocol.Marshal(applied); err == nil && string(raw) != s.state.Applied {
		s.event(applied)
	}
	s.out.Sync = true
}

// adjustSettings records settings that differ from the current ones.
func (s *step) adjustSettings(next Settings, turnID string) {
	if !equalJSON(s.state.Settings.TurnContext(turnID), next.TurnContext(turnID)) ||
		!equalJSON(s.state.Settings.Stored(), next.Stored()) {
		s.changeSettings(next, turnID)
	}
}

// equalJSON reports whether two values have the same encoding.
func equalJSON(a, b any) bool {
	left, errLeft := protocol.Marshal(a)
	right, errRight := protocol.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}
