package listing

import (
	"strings"

	"github.com/tidwall/gjson"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// Message is the searchable content of a line.
type Message struct {
	// Role is "user" or "assistant".
	Role string
	// Kind is the type of the item: "message", or the type of a tool call.
	Kind string
	Text string
	// ToolName is empty unless the item is a tool call.
	ToolName string
}

// Truncate returns the message with at most limit bytes of its text.
func (m Message) Truncate(limit int) Message {
	m.Text = excerpt.Prefix(m.Text, limit)
	return m
}

// MessageOf returns the searchable content of a line: messages of the user and the agent, and
// tool calls. For other lines it returns false. A message may occur several times in a
// rollout, as an item and as events.
func MessageOf(l protocol.RolloutLine) (m Message, ok bool) {
	switch l.Type {
	case protocol.LineEventMsg:
		m = eventMessage(l.Payload)
	case protocol.LineResponseItem:
		m = itemMessage(l.Payload)
	}
	return m, m.Text != "" || m.ToolName != ""
}

func eventMessage(payload []byte) Message {
	if text := eventText(payload); text != nil {
		return Message{Role: protocol.RoleUser, Kind: "message", Text: *text}
	}
	switch gjson.GetBytes(payload, "type").Str {
	case protocol.EventAgentMessage:
		return Message{Role: protocol.RoleAssistant, Kind: "message", Text: gjson.GetBytes(payload, "message").String()}
	case protocol.EventItemCompleted:
		if gjson.GetBytes(payload, "item.type").Str == "AgentMessage" {
			return Message{
				Role: protocol.RoleAssistant,
				Kind: "message",
				Text: texts(gjson.GetBytes(payload, "item.content")),
			}
		}
	}
	return Message{}
}

func itemMessage(payload []byte) Message {
	kind := gjson.GetBytes(payload, "type").Str
	switch kind {
	case "message":
		if gjson.GetBytes(payload, "role").Str == protocol.RoleAssistant {
			return Message{Role: protocol.RoleAssistant, Kind: kind, Text: texts(gjson.GetBytes(payload, "content"))}
		}
		if text := itemText(payload); text != nil {
			return Message{Role: protocol.RoleUser, Kind: kind, Text: *text}
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		call := gjson.GetManyBytes(payload, "name", "arguments", "input", "action.command")
		return Message{
			Role:     protocol.RoleAssistant,
			Kind:     kind,
			ToolName: call[0].Str,
			Text:     call[1].String() + call[2].String() + call[3].String(),
		}
	}
	return Message{}
}

// texts returns the texts of all parts of a content, of whatever type.
func texts(content gjson.Result) string {
	var text strings.Builder
	for _, part := range content.Array() {
		text.WriteString(part.Get("text").Str)
	}
	return text.String()
}
