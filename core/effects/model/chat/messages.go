package chat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/protocol"
)

// These texts replace empty ones, because several providers reject empty content of users and of tools
// with 400.
const (
	emptyMessage = "(empty message)"
	emptyOutput  = "(no output)"
)

// imageOutput is the text of a tool output that has images only.
const imageOutput = "(the image is in the next message)"

// Message is one message of a Chat Completions request.
type Message struct {
	Role       string     `json:"role"`
	Content    Content    `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Echo

	reasoning string // what is known of that of an assistant's message, sent or not
	items     []int  // the indices of the items that it is made of, if they are traced
}

// Content is text, or parts, or null where both are empty: an assistant's
// message that only calls tools.
type Content struct {
	Text  string
	Parts []Part
	// Empty is set if an empty text stands in place of null.
	Empty bool
}

// Part is a part of a message: type text with Text, or image_url with ImageURL.
type Part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL *Image `json:"image_url,omitempty"`
}

// Image is an image by URL, mostly a data URL.
type Image struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
}

// ToolCall is a tool call of an assistant's message.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
	// ExtraContent came with the call, and is sent back unchanged.
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

// Function names the tool and its arguments, the text of a JSON object.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// roleTool is the role of a tool's output; the other roles are protocol's.
const roleTool = "tool"

// isNull reports whether the content is written as null.
func (c *Content) isNull() bool { return c.Text == "" && len(c.Parts) == 0 && !c.Empty }

// MarshalJSON writes a string, a list or null.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case len(c.Parts) > 0:
		return protocol.Marshal(c.Parts)
	case c.Text != "":
		return protocol.Marshal(c.Text)
	case c.Empty:
		return []byte(`""`), nil
	}
	return []byte("null"), nil
}

// Messages returns a prompt as Chat Completions messages. The instructions are one
// system message at the top. A run of calls is one assistant message, together
// with the assistant's text right before it; outputs are messages of role tool,
// and their images follow the run of outputs in a user message. Developer messages
// become system messages. Reasoning goes back to the model that it is of, by the
// member that it came by, with the text or the calls after it. Neighbouring messages of
// the user are one. Unknown items are left out, and so is an assistant's empty text; other
// empty text is replaced by a placeholder.
func Messages(p *core.Prompt) []Message { return write(p, (*chatWriter).item) }

// tracedMessages does the same as Messages, and returns the items of each message.
func tracedMessages(p *core.Prompt) []Message {
	index := -1
	return write(p, func(w *chatWriter, item protocol.ResponseItemVariant) {
		index++
		w.trace(index, item)
	})
}

func write(p *core.Prompt, item func(*chatWriter, protocol.ResponseItemVariant)) []Message {
	w := chatWriter{prompt: p, messages: make([]Message, 0, len(p.Items)+1)}
	if p.Instructions != "" {
		w.text(protocol.RoleSystem, p.Instructions)
	}
	for _, i := range p.Items {
		item(&w, i.ResponseItemVariant)
	}
	w.flushImages()
	return joinUsers(w.messages)
}

// trace writes an item and records its index with its message.
func (w *chatWriter) trace(index int, item protocol.ResponseItemVariant) {
	joins := false // the message before can have the item
	switch item.(type) {
	case *protocol.Reasoning:
		w.reasoning.items = append(w.reasoning.items, index)
	case *protocol.Message:
		w.flushImages()
	case *protocol.FunctionCall, *protocol.CustomToolCall, *protocol.LocalShellCall:
		w.flushImages()
		joins = true
	}
	messages, images := len(w.messages), len(w.images)
	w.item(item)
	if len(w.messages) > messages || joins {
		last := &w.messages[len(w.messages)-1]
		last.items = append(last.items, index)
	}
	if len(w.images) > images {
		w.imageItems = append(w.imageItems, index)
	}
}

// chatWriter appends messages. images are those of the last outputs. reasoning waits for its
// assistant's message.
type chatWriter struct {
	prompt    *core.Prompt
	messages  []Message
	images    []Part
	reasoning reasoning
	// imageItems are the indices of the items of images, if they are traced.
	imageItems []int
}

func (w *chatWriter) item(item protocol.ResponseItemVariant) {
	switch i := item.(type) {
	case *protocol.Message:
		w.flushImages()
		w.message(i)
	case *protocol.Reasoning:
		w.reasoning.add(i)
	case *protocol.FunctionCall:
		w.call(i.CallID, i.FullName(), i.Arguments, i.Echo)
	case *protocol.CustomToolCall:
		w.call(i.CallID, i.Name, model.InputObject(i.Input), nil)
	case *protocol.LocalShellCall:
		w.call(i.CallID, "shell", object("command", i.Action.Command), nil)
	case *protocol.FunctionCallOutput:
		w.output(i.CallID, i.Output)
	case *protocol.CustomToolCallOutput:
		w.output(i.CallID, i.Output)
	}
}

func (w *chatWriter) text(role, text string) {
	if role != protocol.RoleAssistant {
		w.reasoning = reasoning{}
	}
	w.messages = append(w.messages, Message{Role: role, Content: Content{Text: text}})
}

func (w *chatWriter) message(m *protocol.Message) {
	text := protocol.JoinText(m.Content)
	switch m.Role {
	case protocol.RoleAssistant:
		if text != "" {
			w.text(protocol.RoleAssistant, text)
			w.echo(m.Echo)
		}
	case protocol.RoleSystem, protocol.RoleDeveloper:
		if isNotice(text) {
			w.userMessage(m, text)
			return
		}
		w.text(protocol.RoleSystem, cmp.Or(text, emptyMessage))
	default:
		w.userMessage(m, text)
	}
}

// isNotice reports whether a message of the developer informs about a mode, the skills or other agents. It is sent in
// the role of the user: it comes within the conversation, where many templates refuse system messages, and Anthropic
// moves them to the front.
func isNotice(text string) bool {
	return slices.ContainsFunc([]string{protocol.ModeTag, protocol.SkillsTag, protocol.TeamTag, protocol.AgentModeTag},
		func(tag string) bool { return strings.HasPrefix(text, tag) })
}

func (w *chatWriter) userMessage(m *protocol.Message, text string) {
	w.reasoning = reasoning{}
	content := Content{Text: cmp.Or(text, emptyMessage)}
	if len(imageParts(m.Content)) > 0 {
		content = Content{Parts: chatParts(m.Content)}
	}
	w.messages = append(w.messages, Message{Role: protocol.RoleUser, Content: content})
}

func (w *chatWriter) call(id, name, arguments string, echo *protocol.ProviderEcho) {
	w.flushImages()
	last := len(w.messages) - 1
	if last < 0 || w.messages[last].Role != protocol.RoleAssistant {
		w.text(protocol.RoleAssistant, "")
		last++
	}
	w.messages[last].ToolCalls = append(w.messages[last].ToolCalls, ToolCall{
		ID: id, Type: "function",
		Function: Function{Name: model.FunctionName(name), Arguments: model.ArgumentsObject(arguments)},
	})
	w.echo(echo)
}

func (w *chatWriter) output(id string, out protocol.ToolOutput) {
	text, placeholder := out.Text, emptyOutput
	if out.Parts != nil {
		text = protocol.JoinText(out.Parts)
		images := imageParts(out.Parts)
		w.images = append(w.images, images...)
		if len(images) > 0 {
			placeholder = imageOutput
		}
	}
	w.messages = append(w.messages, Message{
		Role: roleTool, Content: Content{Text: cmp.Or(text, placeholder)}, ToolCallID: id,
	})
}

func (w *chatWriter) flushImages() {
	if len(w.images) > 0 {
		w.messages = append(w.messages, Message{Role: protocol.RoleUser, Content: Content{Parts: w.images},
			items: w.imageItems})
		w.images, w.imageItems = nil, nil
	}
}
