package model

import (
	"encoding/json"
	"fmt"

	"appserver/core"
	"appserver/protocol"
)

// Render gives the messages and the tools of the request that a prompt makes.
func Render(p *core.Prompt) (messages, tools []json.RawMessage, err error) {
	for _, m := range ChatMessages(p) {
		raw, err := protocol.Marshal(m)
		if err != nil {
			return nil, nil, fmt.Errorf("writing the messages of the request: %w", err)
		}
		messages = append(messages, raw)
	}
	for _, t := range request(p).Tools {
		raw, err := protocol.Marshal(t)
		if err != nil {
			return nil, nil, fmt.Errorf("writing the tools of the request: %w", err)
		}
		tools = append(tools, raw)
	}
	return messages, tools, nil
}
