package chat

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"appserver/core/effects/model/refusal"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// noReasoning replaces missing reasoning. Moonshot treats empty text as missing.
const noReasoning = " "

// noSignature is the documented value of Google for calls of other models.
const noSignature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// These texts stand where a template demands a message of the other role.
const (
	noAnswer  = "(no answer)"
	noRequest = "(the conversation continues)"
)

// form converts messages to the form that a model demands.
func form(messages []Message, d *refusal.Demands) []Message {
	messages = shaped(messages, d.Shape)
	for i := range messages {
		m := &messages[i]
		if d.ShortIDs {
			m.shortenIDs()
		}
		if m.Role != protocol.RoleAssistant {
			continue
		}
		m.Content.Empty = d.Shape.EmptyContent
		switch d.Echo {
		case refusal.EchoNothing:
			m.forget()
		case refusal.EchoReasoning:
			m.ReasoningContent = new(cmp.Or(m.reasoning, noReasoning))
		case refusal.EchoSignature:
			m.sign()
		}
	}
	return messages
}

func shaped(messages []Message, s refusal.Shape) []Message {
	if s.SystemFirst || s.NoSystem {
		messages = joinUsers(withoutSystem(messages, s.NoSystem))
	}
	if s.SingleCalls {
		messages = withSingleCalls(messages)
	}
	if s.Alternating {
		messages = alternating(messages)
	}
	return messages
}

// joinUsers joins neighbouring messages of the user, which many chat templates refuse. Each request has some: the
// description of the environment comes before the user's text.
func joinUsers(messages []Message) []Message {
	joined := messages[:0]
	for i := 0; i < len(messages); {
		end := i + 1
		for messages[i].Role == protocol.RoleUser && end < len(messages) && messages[end].Role == protocol.RoleUser {
			end++
		}
		joined = append(joined, join(messages[i:end]))
		i = end
	}
	return joined
}

// join returns one message with the contents of a run of messages with the same role.
func join(run []Message) Message {
	m := run[0]
	if len(run) == 1 {
		return m
	}
	var texts []string
	var parts []Part
	var items []int
	for i := range run {
		texts, parts = append(texts, run[i].Content.Text), append(parts, run[i].Content.asParts()...)
		items = append(items, run[i].items...)
	}
	m.items = items
	m.Content = Content{Text: strings.Join(texts, "\n\n")}
	if slices.ContainsFunc(run, func(m Message) bool { return m.Content.Parts != nil }) {
		m.Content = Content{Parts: parts}
	}
	return m
}

func (c *Content) asParts() []Part {
	if c.Parts != nil {
		return c.Parts
	}
	return []Part{{Type: "text", Text: c.Text}}
}

// withoutSystem turns messages of the system into messages of the user: all of them, or those that are
// not the first message.
func withoutSystem(messages []Message, all bool) []Message {
	for i := range messages {
		if messages[i].Role == protocol.RoleSystem && (all || i > 0) {
			messages[i].Role = protocol.RoleUser
		}
	}
	return messages
}

// withSingleCalls makes a message for each call, with its output after it.
func withSingleCalls(messages []Message) []Message {
	var single []Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.ToolCalls) < 2 {
			single = append(single, m)
			continue
		}
		end := i + 1
		for end < len(messages) && messages[end].Role == roleTool {
			end++
		}
		single = append(single, splitCalls(m, messages[i+1:end])...)
		i = end - 1
	}
	return single
}

// splitCalls returns a message for each call of m with its outputs. Outputs of no call come last.
func splitCalls(m Message, outputs []Message) (split []Message) {
	used := make([]bool, len(outputs))
	for k, call := range m.ToolCalls {
		one := Message{Role: m.Role, items: m.items}
		if k == 0 {
			one = m
		}
		one.ToolCalls = []ToolCall{call}
		split = append(split, one)
		for j, output := range outputs {
			if !used[j] && output.ToolCallID == call.ID {
				used[j] = true
				split = append(split, output)
			}
		}
	}
	for j, output := range outputs {
		if !used[j] {
			split = append(split, output)
		}
	}
	return split
}

// alternating makes messages of the user and the assistant take turns, with the user first. Calls and their outputs do
// not count.
func alternating(messages []Message) []Message {
	var out []Message
	turn := "" // the role of the last message that counts
	for _, m := range messages {
		switch {
		case m.Role == protocol.RoleUser:
			if turn == protocol.RoleUser {
				out = append(out, Message{Role: protocol.RoleAssistant, Content: Content{Text: noAnswer}})
			}
			turn = m.Role
		case m.Role == protocol.RoleAssistant:
			if turn == "" {
				out = append(out, Message{Role: protocol.RoleUser, Content: Content{Text: noRequest}})
				turn = protocol.RoleUser
			}
			if last := len(out) - 1; len(m.ToolCalls) == 0 && turn == m.Role && out[last].Role == m.Role {
				out[last] = join([]Message{out[last], m})
				continue
			} else if len(m.ToolCalls) == 0 && turn == m.Role {
				out = append(out, Message{Role: protocol.RoleUser, Content: Content{Text: noRequest}})
			}
			if len(m.ToolCalls) == 0 {
				turn = m.Role
			}
		}
		out = append(out, m)
	}
	return out
}

func (m *Message) forget() {
	m.Echo = Echo{}
	for i := range m.ToolCalls {
		m.ToolCalls[i].ExtraContent = nil
	}
}

// sign signs the first of calls made at once, as their model would have.
func (m *Message) sign() {
	if len(m.ToolCalls) > 0 && m.ToolCalls[0].ExtraContent == nil {
		m.ToolCalls[0].ExtraContent = json.RawMessage(noSignature)
	}
}

func (m *Message) shortenIDs() {
	for i := range m.ToolCalls {
		m.ToolCalls[i].ID = shortID(m.ToolCalls[i].ID)
	}
	if m.Role == roleTool {
		m.ToolCallID = shortID(m.ToolCallID)
	}
}

var shortIDs = pattern.New(`^[A-Za-z0-9]{9}$`)

// shortID returns the same id for equal ids, and very likely another one for others.
func shortID(id string) string {
	if shortIDs().MatchString(id) {
		return id
	}
	hash := fnv.New64a()
	hash.Write([]byte(id))
	digits := strconv.FormatUint(hash.Sum64(), 36)
	return (strings.Repeat("0", 9) + digits)[len(digits):]
}
