package history

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// description has the facts of an item that clients see, and its cost. It is made on first use.
type description struct {
	category protocol.ContextCategory
	row      uint8 // the index of category in protocol.ContextCategories
	// preview has at most 80 graphemes, longPreview more, or "" if the item has no more. printed is the subject of the
	// output of a call.
	preview, longPreview, printed string
	// id names the item, tool the tool of a call. itemID is the id of the thread item that shows it.
	id, tool, itemID string
	// agent is the thread of the agent whose result the item is, or "".
	agent string
	bytes int64
	// images is set if the item has images, whose cost is a guess.
	images bool
	// tokens are counted for the model History.pricedFor, before its scale.
	tokens Tokens
	// reported is set if tokens are the provider's own, or an estimate of them. No scale applies.
	reported bool
}

// price returns the cost as the provider would report it.
func (d *description) price(scale Scale) int64 {
	if d.reported {
		return d.tokens.All
	}
	return scale.Of(d.tokens)
}

// beforeScale returns the cost to which a scale is applied later.
func (d *description) beforeScale(scale Scale) Tokens {
	if d.reported {
		return LatinTokens(int64(float64(d.tokens.All) / scale.Latin))
	}
	return d.tokens
}

// describe returns the description of an item in the form in which it is sent now.
func (h *History) describe(place int) *description {
	if about := h.Item(place).about; about != nil {
		return about
	}
	about, text := h.newDescription(place)
	about.tokens = about.tokens.Plus(h.countText(text))
	return about
}

// newDescription returns the description of an item, without the tokens of its text, and the text.
func (h *History) newDescription(place int) (about *description, text string) {
	c := h.Item(place)
	item := c.Decode()
	if c.visibility.Text != nil {
		item = WithText(item, *c.visibility.Text)
	}
	sent := contentOf(item)
	typed := c.userItemID != ""
	category := c.category(item, typed)
	lines := h.linesOf(c, item, sent.text)
	about = &description{
		category: category, row: uint8(slices.Index(protocol.ContextCategories(), category)),
		preview: lines.Short, longPreview: lines.Long, printed: lines.Printed,
		id: c.ID(), tool: toolName(item), itemID: shownID(item),
		bytes: int64(len(sent.text)), tokens: LatinTokens(sent.frameTokens()),
	}
	if notice, ok := agentNotice(item); ok && !typed {
		about.agent = notice.ThreadID
	}
	if c.price > 0 && c.native {
		about.preview, about.longPreview = "[encrypted compaction]", ""
	}
	text = sent.text
	if c.price > 0 && c.visibility.Text == nil {
		about.tokens, about.reported, about.bytes, text = LatinTokens(int64(c.price)), true, int64(c.size), ""
		about.preview = cmp.Or(about.preview, "[encrypted]")
	}
	for _, image := range sent.images {
		about.bytes += int64(len(image.ImageURL))
		about.images = true
	}
	if c.decoded {
		c.about = about
	}
	return about, text
}

// describeAll describes items. A pipelinedTokenizer counts the tokens of some items while the next ones are decoded.
func (h *History) describeAll(places iter.Seq[int]) {
	h.dropStaleCounts()
	counter, ok := h.Tokenizer().(pipelinedTokenizer)
	if !ok {
		return // each item is described when it is needed
	}
	var due []*description // one for each text, and a second time for its other scripts
	counts := counter.CountAll(h.pricedFor, func(yield func(string) bool) {
		for place := range places {
			if h.Item(place).about != nil {
				continue
			}
			about, text := h.newDescription(place)
			for _, part := range [...]string{text, otherScripts(text)} {
				due = append(due, about)
				if !yield(part) {
					return
				}
			}
		}
	})
	for i := 0; i+1 < len(counts); i += 2 {
		due[i].tokens = due[i].tokens.Plus(textTokens(counts[i], counts[i+1]))
	}
}

// Lines are the lines by which lists show an item.
type Lines struct {
	// Short is the line. Long has more of it, or is "" if there is no more.
	Short, Long string
	// Printed is the subject of the output of a call, or "".
	Printed string
}

// linesOf returns the lines of an item. The description of a call has the subject of its output.
func (h *History) linesOf(c *Item, item protocol.ResponseItem, text string) Lines {
	if h.options.Preview == nil {
		return Lines{Short: text}
	}
	subject := ""
	if c.role == output && c.pair != None {
		subject = h.describe(int(c.pair)).printed
	}
	if notice, ok := agentNotice(item); ok {
		subject = h.agentName(notice.ThreadID)
	}
	return h.options.Preview(item, subject)
}

// describeLimit bounds the items that are described in advance, in bytes. No model has a larger
// context window.
const describeLimit = 8 << 20

// DescribeSome describes at most n of the items that clients can list, so that the first list is
// faster. It returns false if no item is left, and for larger histories.
func (h *History) DescribeSome(n int) (more bool) {
	if h.Uncounted() > describeLimit {
		return false
	}
	for i := range h.Shown() {
		if h.Item(i).about != nil {
			continue
		}
		if n--; n < 0 {
			return true
		}
		h.describe(i)
	}
	return false
}

// category returns the category of an item. typed is set for messages that a thread item shows as the
// user's own.
func (c *Item) category(item protocol.ResponseItem, typed bool) protocol.ContextCategory {
	switch v := protocol.PeerMessageForm(item).ResponseItemVariant.(type) {
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

// messageCategory returns the category by the role, or by the first words of a message that the user
// did not type.
func (c *Item) messageCategory(m *protocol.Message, typed bool) protocol.ContextCategory {
	text := TextOf(protocol.ResponseItem{ResponseItemVariant: m})
	begins := func(tags ...string) bool {
		return slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(text, tag) })
	}
	switch {
	case c.summary, c.notice == reminder:
		return protocol.CategorySummary
	case m.Role == protocol.RoleAssistant:
		return protocol.CategoryAssistantMessage
	case m.Role != protocol.RoleUser:
		return protocol.CategoryDeveloperMessage
	case typed:
		return protocol.CategoryUserMessage
	case begins(EnvironmentTag):
		return protocol.CategoryEnvironmentContext
	case begins(protocol.ToolDefinitionTag):
		return protocol.CategoryToolDefinition
	case begins(InstructionsTag, InstructionsHead, SkillTag, protocol.PluginsTag):
		return protocol.CategoryUserInstructions
	case begins(AbortedTag, ShellTag, protocol.PeerAnswerHead):
		return protocol.CategoryOther
	case begins(protocol.AgentNoticeTag):
		return protocol.CategoryToolOutput
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

// shownID returns the id of the thread item that shows an item of the model, or "". The two share it.
func shownID(item protocol.ResponseItem) string {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		if v.Role == protocol.RoleAssistant {
			return v.ID
		}
	case *protocol.Reasoning:
		return v.ID
	case *protocol.Unknown:
		if v.Tag == WebSearchCall {
			return v.ItemID()
		}
	}
	return ""
}

// agentNotice returns the result of an agent that a message has.
func agentNotice(item protocol.ResponseItem) (protocol.AgentNotice, bool) {
	m, ok := item.ResponseItemVariant.(*protocol.Message)
	if !ok || m.Role != protocol.RoleUser {
		return protocol.AgentNotice{}, false
	}
	return protocol.ParseAgentNotice(TextOf(item))
}

// The output of a call that starts an agent names the agent. It is short.
const (
	maxSpawnOutput = 1 << 10 // bytes
	// maxNamesRead bounds the outputs that are read for a name.
	maxNamesRead = 1000
)

// agentName returns the name of an agent by the id of its thread: from the output of the call that started it, also if
// that is not sent any more. It returns "" without such an output.
func (h *History) agentName(id string) string {
	read := 0
	for place := h.items.Len() - 1; place >= 0 && read < maxNamesRead; place-- {
		c := h.Item(place)
		if c.role != output || c.size > maxSpawnOutput {
			continue
		}
		read++
		if text := ContentText(c.Decode()); strings.Contains(text, id) {
			if spawned := gjson.Parse(text); spawned.Get("agent_id").Str == id && gjson.Valid(text) {
				return strings.Clone(spawned.Get("nickname").Str)
			}
		}
	}
	return ""
}
