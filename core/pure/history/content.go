package history

import (
	"strings"

	"appserver/protocol"
)

// TextOf returns the text of a message, or "" for other items.
func TextOf(item protocol.ResponseItem) string {
	m, ok := protocol.PeerMessageForm(item).ResponseItemVariant.(*protocol.Message)
	if !ok {
		return ""
	}
	if len(m.Content) == 1 {
		return m.Content[0].Text
	}
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// UserMessage returns a message in the role of the user.
func UserMessage(text string) *protocol.Message {
	return &protocol.Message{Role: protocol.RoleUser,
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}}}
}

// DeveloperMessage returns a message in the role of the developer.
func DeveloperMessage(text string) *protocol.Message {
	return &protocol.Message{Role: protocol.RoleDeveloper,
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}}}
}

const (
	// messageTokens frame a message: its begin, its role and its end. OpenAI documents the figure.
	messageTokens = 4
	// imageTokens is the cost of an image of medium size, lowDetailTokens of one in low detail.
	imageTokens     = 765
	lowDetailTokens = 85
)

// content is the part of an item that costs tokens.
type content struct {
	text   string
	images []protocol.ContentItem
}

// ContentText returns the text of an item that costs tokens: of a message, reasoning, a call with its
// arguments, or an output.
func ContentText(item protocol.ResponseItem) string { return contentOf(item).text }

func contentOf(item protocol.ResponseItem) (c content) {
	switch v := protocol.PeerMessageForm(item).ResponseItemVariant.(type) {
	case *protocol.Message:
		c.add(v.Content)
	case *protocol.Reasoning:
		c.text = reasoningText(v)
	case *protocol.FunctionCall:
		c.text = v.FullName() + " " + v.Arguments
	case *protocol.CustomToolCall:
		c.text = v.Name + " " + v.Input
	case *protocol.LocalShellCall:
		c.text = "shell " + strings.Join(v.Action.Command, " ")
	case *protocol.FunctionCallOutput:
		c.text = v.Output.Text
		c.add(v.Output.Parts)
	case *protocol.CustomToolCallOutput:
		c.text = v.Output.Text
		c.add(v.Output.Parts)
	case *protocol.Unknown:
		c.text = string(v.Raw)
	}
	return c
}

func (c *content) add(parts []protocol.ContentItem) {
	if len(parts) == 1 && parts[0].Type != protocol.ContentInputImage {
		c.text = parts[0].Text
		return
	}
	texts := make([]string, 0, len(parts)+1)
	if c.text != "" {
		texts = append(texts, c.text)
	}
	for _, p := range parts {
		if p.Type == protocol.ContentInputImage {
			c.images = append(c.images, p)
		} else if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	c.text = strings.Join(texts, "\n")
}

// frameTokens returns the cost of all but the text.
func (c *content) frameTokens() int64 {
	n := messageTokens
	for _, image := range c.images {
		if image.Detail == "low" {
			n += lowDetailTokens
		} else {
			n += imageTokens
		}
	}
	return int64(n)
}

func reasoningText(r *protocol.Reasoning) string {
	var texts []string
	for _, part := range append(append([]protocol.ReasoningText{}, r.Summary...), r.Content...) {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}

// WithText returns an output or reasoning with another text, and other items unchanged. Encrypted
// content of reasoning is left out.
func WithText(item protocol.ResponseItem, text string) protocol.ResponseItem {
	out := protocol.ToolOutput{Text: text}
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.FunctionCallOutput:
		item.ResponseItemVariant = &protocol.FunctionCallOutput{
			ID: v.ID, CallID: v.CallID, Output: out, TurnRef: v.TurnRef}
	case *protocol.CustomToolCallOutput:
		item.ResponseItemVariant = &protocol.CustomToolCallOutput{
			ID: v.ID, CallID: v.CallID, Output: out, TurnRef: v.TurnRef}
	case *protocol.Reasoning:
		item.ResponseItemVariant = &protocol.Reasoning{
			ID: v.ID, Summary: []protocol.ReasoningText{{Type: "summary_text", Text: text}}, TurnRef: v.TurnRef}
	}
	return item
}
