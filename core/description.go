package core

import (
	"cmp"
	"slices"
	"strings"

	"appserver/protocol"
)

// description is what clients are shown of an item, and what it costs: made once, when
// it is first asked for.
type description struct {
	category protocol.ContextCategory
	kind     uint8 // the place of category in protocol.ContextCategories
	preview  string
	// id is the item's own, tool that of a call, itemID that of an item which has one.
	id, tool, itemID string
	bytes            int64
	// images is set where some of it is images, whose price is a guess.
	images bool
	// tokens are those of the model that history.countedFor names, before its scale.
	tokens int64
	// reported is set if tokens are the provider's own, or an estimate of them. No scale applies.
	reported bool
}

// price is what the item costs as the provider would report it.
func (d *description) price(scale float64) int64 {
	if d.reported {
		return d.tokens
	}
	return scaled(d.tokens, scale)
}

// beforeScale is the price that a scale is still applied to.
func (d *description) beforeScale(scale float64) int64 {
	if d.reported {
		return int64(float64(d.tokens) / scale)
	}
	return d.tokens
}

// content is what an item brings into a request.
type content struct {
	text   string
	images []protocol.ContentItem
}

// contentOfItem is what is counted of an item, whether it is sent or not.
func contentOfItem(item protocol.ResponseItem) (c content) {
	switch v := item.ResponseItemVariant.(type) {
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

func reasoningText(r *protocol.Reasoning) string {
	var texts []string
	for _, part := range append(append([]protocol.ReasoningText{}, r.Summary...), r.Content...) {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}

// describe is the description of the item as it is sent now.
func (t *Thread) describe(place int) *description {
	c := &t.items[place]
	if c.about != nil {
		return c.about
	}
	item := c.decoded()
	if c.fate.text != nil {
		item.ResponseItemVariant = replaced(item.ResponseItemVariant, *c.fate.text)
	}
	what := contentOfItem(item)
	_, typed := t.shownAs[int32(place)]
	category := c.category(item, typed)
	about := &description{
		category: category, kind: uint8(slices.Index(protocol.ContextCategories(), category)), preview: preview(what.text), id: c.id(), tool: toolName(item), itemID: ownID(item),
		bytes: int64(len(what.text)), tokens: t.count(what),
	}
	if c.price > 0 && c.native {
		about.preview = "[encrypted compaction]"
	}
	if c.price > 0 && c.fate.text == nil {
		about.tokens, about.reported, about.bytes = int64(c.price), true, int64(c.size)
		about.preview = cmp.Or(about.preview, "[encrypted]")
	}
	for _, image := range what.images {
		about.bytes += int64(len(image.ImageURL))
		about.images = true
		if what.text == "" {
			about.preview = "[image]"
		}
	}
	if c.checked {
		c.about = about
	}
	return about
}

// describeLimit is how many bytes of items are described before they are asked for: more
// than the window of any model holds.
const describeLimit = 8 << 20

// Describe describes some of the items that clients can list, so that the first list does
// not wait for all of them. It is false once none is left, and for larger threads.
func (t *Thread) Describe(some int) (more bool) {
	if t.uncounted() > describeLimit {
		return false
	}
	for i := range t.items {
		if c := &t.items[i]; c.about != nil || c.fate.hidden {
			continue
		}
		if some--; some < 0 {
			return true
		}
		t.describe(i)
	}
	return false
}

// Marks of the messages that tell the model of its surroundings; the reference
// implementation puts AGENTS.md under a heading.
const (
	environmentTag   = "<environment_context>"
	instructionsTag  = "<user_instructions>"
	instructionsHead = "# AGENTS.md instructions"
)

// category is that of an item; typed is set for messages that clients are shown as the
// user's own.
func (c *contextItem) category(item protocol.ResponseItem, typed bool) protocol.ContextCategory {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		return c.messageCategory(v, typed)
	case *protocol.Reasoning:
		return protocol.CategoryReasoning
	case *protocol.FunctionCall, *protocol.CustomToolCall, *protocol.LocalShellCall:
		return protocol.CategoryToolCall
	case *protocol.FunctionCallOutput, *protocol.CustomToolCallOutput:
		return protocol.CategoryToolOutput
	}
	if c.native && c.price > 0 {
		return protocol.CategorySummary
	}
	return protocol.CategoryOther
}

// messageCategory goes by the role, and of messages that the user did not type, by how
// they begin.
func (c *contextItem) messageCategory(m *protocol.Message, typed bool) protocol.ContextCategory {
	text := textOf(protocol.ResponseItem{ResponseItemVariant: m})
	switch {
	case c.summary, c.tells == theReminder:
		return protocol.CategorySummary
	case m.Role == protocol.RoleAssistant:
		return protocol.CategoryAssistantMessage
	case m.Role != protocol.RoleUser:
		return protocol.CategoryDeveloperMessage
	case typed:
		return protocol.CategoryUserMessage
	case strings.HasPrefix(text, environmentTag):
		return protocol.CategoryEnvironmentContext
	case strings.HasPrefix(text, instructionsTag), strings.HasPrefix(text, instructionsHead), strings.HasPrefix(text, SkillTag), strings.HasPrefix(text, protocol.PluginsTag):
		return protocol.CategoryUserInstructions
	case strings.HasPrefix(text, abortedTag), strings.HasPrefix(text, ownTag):
		return protocol.CategoryOther
	}
	return protocol.CategoryUserMessage
}

func toolName(item protocol.ResponseItem) string {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.FunctionCall:
		return v.FullName()
	case *protocol.CustomToolCall:
		return v.Name
	case *protocol.LocalShellCall:
		return "shell"
	}
	return ""
}

// ownID is the id of what the model said, under which a thread item shows it.
func ownID(item protocol.ResponseItem) string {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		if v.Role == protocol.RoleAssistant {
			return v.ID
		}
	case *protocol.Reasoning:
		return v.ID
	case *protocol.Unknown:
		if v.Tag == webSearchCall {
			return v.ItemID()
		}
	}
	return ""
}

// showUser notes the id of the thread item that shows the user's message that came last.
func (h *history) showUser(id string) {
	place := len(h.items) - 1
	if place < 0 || !h.items[place].ofUser {
		return
	}
	if h.shownAs == nil {
		h.shownAs = map[int32]string{}
	}
	if _, taken := h.shownAs[int32(place)]; !taken {
		h.shownAs[int32(place)] = id
		h.items[place].about = nil // its category may be another one
	}
}
