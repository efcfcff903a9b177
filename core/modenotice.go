package core

import (
	"strings"

	"appserver/core/pure/history"
	"appserver/protocol"
)

const (
	// modeOver ends the instructions of a mode if the next one has none.
	modeOver = "Default mode\nThe earlier instructions for plan mode no longer apply. Do what the user asks."
	// defaultMode is in the instructions for the default mode, also in those of the reference implementation.
	defaultMode = "Default mode"
	// skillsReplace begins a list of skills that differs from earlier ones. skillsGone replaces them by none.
	skillsReplace = "This list replaces all earlier lists of skills.\n\n"
	skillsGone    = "The earlier lists of skills no longer apply. There are no skills."
)

// appendMode adds the instructions for the mode if the model does not know them yet.
func (s *step) appendMode() {
	if text := s.newMode(); text != "" {
		s.item(history.DeveloperMessage(text))
	}
}

// newMode returns the message with the instructions for the mode, or "" if they are in force.
func (t *Thread) newMode() string {
	text, inForce := modeText(t.state.Settings), t.context.Mode()
	switch {
	case text == inForce, text == "" && strings.Contains(inForce, defaultMode):
		return ""
	case text == "":
		text = modeOver
	}
	return protocol.ModeTag + text + protocol.ModeEnd
}

// newSkills returns the message with a list of skills, or "" if it is in force.
func (t *Thread) newSkills(list string) string {
	inForce := t.context.Skills()
	switch {
	case list == strings.TrimPrefix(inForce, skillsReplace), list == "" && inForce == skillsGone:
		return ""
	case list == "":
		list = skillsGone
	case inForce != "":
		list = skillsReplace + list
	}
	return protocol.SkillsTag + list + protocol.SkillsEnd
}
