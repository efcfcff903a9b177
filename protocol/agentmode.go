package protocol

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// MultiAgentMode selects when models start other agents: "explicitRequestOnly", "proactive", or {"custom": TEXT} with
// instructions of the client. The zero value is explicitRequestOnly.
type MultiAgentMode struct {
	proactive bool
	custom    *string
}

// Proactive reports whether models start agents unasked.
func (m MultiAgentMode) Proactive() bool { return m.proactive }

// Custom returns the instructions of the client, or nil.
func (m MultiAgentMode) Custom() *string { return m.custom }

// The modes of MultiAgentMode.
const (
	MultiAgentExplicit  = "explicitRequestOnly"
	MultiAgentProactive = "proactive"
	MultiAgentCustom    = "custom"
)

var multiAgentModes = []string{MultiAgentExplicit, MultiAgentProactive, MultiAgentCustom}

// MarshalJSON writes the mode, or {"custom": TEXT}.
func (m MultiAgentMode) MarshalJSON() ([]byte, error) {
	switch {
	case m.custom != nil:
		return marshal(map[string]string{MultiAgentCustom: *m.custom})
	case m.proactive:
		return marshal(MultiAgentProactive)
	}
	return marshal(MultiAgentExplicit)
}

// UnmarshalJSON accepts a known mode, or {"custom": TEXT}.
func (m *MultiAgentMode) UnmarshalJSON(b []byte) error {
	word, detail, err := decodeWordOf(b, slices.Clone(multiAgentModes), MultiAgentCustom)
	if err != nil {
		return err
	}
	*m = MultiAgentMode{proactive: word == MultiAgentProactive}
	if word == MultiAgentCustom {
		if detail.Type != gjson.String {
			return at(word, wrongType(detail, "a string"))
		}
		m.custom = &detail.Str
	}
	return nil
}

// Stored returns the form of rollouts, or nil for explicitRequestOnly.
func (m MultiAgentMode) Stored() json.RawMessage {
	if m.custom == nil && !m.proactive {
		return nil
	}
	raw, err := m.MarshalJSON()
	if err != nil {
		return nil // texts always encode
	}
	return raw
}

// MultiAgentModeOf returns the mode that a rollout has, or the zero value if it is absent or of another version.
func MultiAgentModeOf(stored json.RawMessage) (m MultiAgentMode) {
	if len(stored) == 0 || m.UnmarshalJSON(stored) != nil {
		return MultiAgentMode{}
	}
	return m
}
