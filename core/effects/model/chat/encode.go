package chat

import (
	"encoding/json"
	"fmt"

	"appserver/core/effects/model"
	"appserver/protocol"
)

// encode returns a message as [protocol.Marshal] does. A conversation is texts and calls mostly, which it
// writes without reflection.
func (m *Message) encode() ([]byte, error) {
	if len(m.Content.Parts) > 0 || m.Reasoning != nil || m.ReasoningContent != nil || m.ReasoningDetails != nil {
		return protocol.Marshal(m)
	}
	for _, c := range m.ToolCalls {
		if c.ExtraContent != nil {
			return protocol.Marshal(m)
		}
	}
	return m.appendPlain(make([]byte, 0, len(m.Content.Text)+64)), nil
}

// appendPlain appends a message that has texts and calls only.
func (m *Message) appendPlain(b []byte) []byte {
	b = protocol.AppendString(append(b, `{"role":`...), m.Role)
	b = append(b, `,"content":`...)
	if m.Content.Text == "" && !m.Content.Empty {
		b = append(b, "null"...)
	} else {
		b = protocol.AppendString(b, m.Content.Text)
	}
	for i, c := range m.ToolCalls {
		separator := `,`
		if i == 0 {
			separator = `,"tool_calls":[`
		}
		b = protocol.AppendString(append(append(b, separator...), `{"id":`...), c.ID)
		b = protocol.AppendString(append(b, `,"type":`...), c.Type)
		b = protocol.AppendString(append(b, `,"function":{"name":`...), c.Function.Name)
		b = protocol.AppendString(append(b, `,"arguments":`...), c.Function.Arguments)
		b = append(b, "}}"...)
	}
	if len(m.ToolCalls) > 0 {
		b = append(b, ']')
	}
	if m.ToolCallID != "" {
		b = protocol.AppendString(append(b, `,"tool_call_id":`...), m.ToolCallID)
	}
	return append(b, '}')
}

// encodeAll returns messages as a JSON array.
func encodeAll(messages []Message) ([]byte, error) {
	list := make([]json.RawMessage, len(messages))
	for i := range messages {
		raw, err := messages[i].encode()
		if err != nil {
			return nil, fmt.Errorf("writing the messages of the request: %w", err)
		}
		list[i] = raw
	}
	return model.EncodeList(list), nil
}
