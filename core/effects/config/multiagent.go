package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"appserver/protocol"
)

// MultiAgentPaths is features.multi_agent_v2: a boolean, or a table with the key enabled.
type MultiAgentPaths bool

var errMultiAgentPaths = errors.New("expected true, false, or a table with the boolean enabled")

// UnmarshalJSON reads the boolean or the table. A bound in the table is an error, because the bounds of agents are in
// another one. Other keys of the table have no effect.
func (m *MultiAgentPaths) UnmarshalJSON(b []byte) error {
	var on bool
	if protocol.Unmarshal(b, &on) == nil {
		*m = MultiAgentPaths(on)
		return nil
	}
	var table struct {
		Enabled *bool `json:"enabled"`
	}
	var keys map[string]json.RawMessage
	err := errors.Join(protocol.Unmarshal(b, &table), protocol.Unmarshal(b, &keys))
	if err != nil || table.Enabled == nil {
		return errMultiAgentPaths
	}
	for key := range keys {
		if strings.HasPrefix(key, "max_") {
			return fmt.Errorf("%s is not supported here: set agents.max_threads or agents.max_depth", key)
		}
	}
	*m = MultiAgentPaths(*table.Enabled)
	return nil
}
