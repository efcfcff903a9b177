package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"appserver/core"
	"appserver/protocol"
)

// toolCache has the tools of the last prompt in the form of the API. The prompts of a provider mostly offer the
// same tools. It is safe for concurrent use.
type toolCache struct {
	mu      sync.Mutex
	specs   []core.ToolSpec
	encoded []json.RawMessage
}

// encode returns tools in the form of the API. The caller does not change them.
func (c *toolCache) encode(specs []core.ToolSpec) ([]json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.EqualFunc(c.specs, specs, core.ToolSpec.Equal) {
		return c.encoded, nil
	}
	encoded := make([]json.RawMessage, len(specs))
	for i, spec := range specs {
		raw, err := protocol.Marshal(functionTool(spec))
		if err != nil {
			return nil, fmt.Errorf("writing the tool %s of the request: %w", spec.Name, err)
		}
		encoded[i] = raw
	}
	c.specs, c.encoded = specs, encoded
	return encoded, nil
}
