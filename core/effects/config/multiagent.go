package config

import (
	"errors"

	"appserver/protocol"
)

// MultiAgentPaths is features.multi_agent_v2: a boolean, or a table with the key enabled.
type MultiAgentPaths bool

var errMultiAgentPaths = errors.New("expected true, false, or a table with the boolean enabled")

// UnmarshalJSON reads the boolean or the table. Other keys of the table have no effect.
func (m *MultiAgentPaths) UnmarshalJSON(b []byte) error {
	var on bool
	if protocol.Unmarshal(b, &on) == nil {
		*m = MultiAgentPaths(on)
		return nil
	}
	var table struct {
		Enabled *bool `json:"enabled"`
	}
	if err := protocol.Unmarshal(b, &table); err != nil || table.Enabled == nil {
		return errMultiAgentPaths
	}
	*m = MultiAgentPaths(*table.Enabled)
	return nil
}
