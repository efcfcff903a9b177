package protocol

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// MultiAgentMode selects when models start other agents: "explicitRequestOnly", "proactive", or {"custom": TEXT} with
// instructions of the client. The zero value is explicitRequestOnly.
type MultiAgentMode struct {
	// Proactive is set for proactive.
	Proactive bool
	// Custom is the text of the client, or nil.
	Custom *string
}

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
	case m.Custom != nil:
		return marshal(map[string]string{MultiAgentCustom: *m.Custom})
	case m.Proactive:
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
	*m = MultiAgentMode{Proactive: word == MultiAgentProactive}
	if word == MultiAgentCustom {
		if detail.Type != gjson.String {
			return at(word, wrongType(detail, "a string"))
		}
		m.Custom = &detail.Str
	}
	return nil
}

// Stored returns the form of rollouts, or nil for explicitRequestOnly.
func (m MultiAgentMode) Stored() json.RawMessage {
	if m.Custom == nil && !m.Proactive {
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
