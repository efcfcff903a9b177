package model

import (
	"fmt"

	"appserver/core"
	"appserver/protocol"
)

// CallIDs keeps the ids of calls apart.
type CallIDs struct {
	taken map[string]bool
	last  int
}

// Claim returns id, or "call_<n>" if id is missing or belongs to a call of the prompt or an earlier
// call of the answer.
func (c *CallIDs) Claim(p *core.Prompt, id string) string {
	if c.taken == nil {
		c.taken = promptCallIDs(p)
	}
	for id == "" || c.taken[id] {
		c.last++
		id = fmt.Sprintf("call_%d", c.last)
	}
	c.taken[id] = true
	return id
}

func promptCallIDs(p *core.Prompt) map[string]bool {
	ids := map[string]bool{}
	for _, item := range p.Items {
		switch i := item.ResponseItemVariant.(type) {
		case *protocol.FunctionCall:
			ids[i.CallID] = true
		case *protocol.CustomToolCall:
			ids[i.CallID] = true
		case *protocol.LocalShellCall:
			ids[i.CallID] = true
		}
	}
	return ids
}
