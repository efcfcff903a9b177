package chat

import (
	"cmp"
	"encoding/json"
	"strings"

	"appserver/core"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// The members by which raw reasoning comes, and goes back.
const (
	memberReasoning        = "reasoning"
	memberReasoningContent = "reasoning_content"
	// memberThink is for reasoning in tags within the text. It goes back as reasoning_content, from which templates
	// take it, or in tags to models that read it there only.
	memberThink = "think"
)

// tagsOnly matches models that read earlier reasoning in tags only, by their maker's documentation.
var tagsOnly = pattern.New(`(?i)minimax`)

// Echo is the data of an answer that goes back to its model. A nil member is left out. An empty text
// is not.
type Echo struct {
	Reasoning        *string         `json:"reasoning,omitempty"`
	ReasoningContent *string         `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

// reasoning is the text of Reasoning items. altered is set where some of it is no more
// as the model gave it.
type reasoning struct {
	text    string
	altered bool
	items   []int // their indices, if they are traced
}

func (r *reasoning) add(item *protocol.Reasoning) {
	parts := item.Content
	if len(parts) == 0 {
		parts, r.altered = item.Summary, true
	}
	for _, part := range parts {
		r.text += part.Text
	}
}

// echo gives the message just written the reasoning before it and, where e is from the
// model that is asked, what that one wants back. Reasoning that was taken out of the
// context stays out, and what was replaced goes without the details of the original.
func (w *chatWriter) echo(e *protocol.ProviderEcho) {
	m := &w.messages[len(w.messages)-1]
	m.reasoning += w.reasoning.text
	m.items = append(m.items, w.reasoning.items...)
	altered := w.reasoning.altered
	w.reasoning = reasoning{}
	if e == nil || e.Provider != w.prompt.Provider || e.Model != w.prompt.Model {
		return
	}
	if last := len(m.ToolCalls) - 1; last >= 0 {
		m.ToolCalls[last].ExtraContent = e.ExtraContent
	}
	switch {
	case e.Reasoning != "" && m.reasoning == "":
	case isSet(e.ReasoningDetails) && !altered:
		m.ReasoningDetails = e.ReasoningDetails
	case e.Reasoning == memberReasoning:
		m.Reasoning = new(m.reasoning)
	case e.Reasoning == memberThink && tagsOnly().MatchString(e.Model):
		m.Content.Text = "<think>\n" + m.reasoning + "\n</think>\n\n" + m.Content.Text
	case e.Reasoning == memberReasoningContent, e.Reasoning == memberThink:
		m.ReasoningContent = new(m.reasoning)
	}
}

// echoes reports whether some messages have an echo.
func echoes(messages []Message) bool {
	for _, m := range messages {
		if m.Reasoning != nil || m.ReasoningContent != nil || m.ReasoningDetails != nil {
			return true
		}
		for _, c := range m.ToolCalls {
			if c.ExtraContent != nil {
				return true
			}
		}
	}
	return false
}

// echoAssembly notes what is to go back of an answer.
type echoAssembly struct {
	member  string
	details []*openDetail
}

func (a *echoAssembly) add(d *delta, text, member string) {
	if text != "" {
		a.member = member
	}
	for _, detail := range d.ReasoningDetails {
		if last := len(a.details) - 1; last >= 0 && a.details[last].continues(detail) {
			a.details[last].join(detail)
		} else if detail != nil {
			a.details = append(a.details, &openDetail{members: detail})
		}
	}
}

// finish attaches it to the first call of the answer, or on the answer. Details name the
// calls that they belong to, by their ids.
func (a *echoAssembly) finish(p *core.Prompt, renamed map[string]string, answer *core.Answer) {
	if a.member == "" && len(a.details) == 0 {
		return
	}
	to := &answer.Echo
	if len(answer.Calls) > 0 {
		to = &answer.Calls[0].Echo
	}
	if *to == nil {
		*to = &protocol.ProviderEcho{Provider: p.Provider, Model: p.Model}
	}
	(*to).Reasoning = a.member
	var details []reasoningDetail
	for _, open := range a.details {
		detail := open.whole()
		if id := renamed[textOf(detail["id"])]; id != "" {
			detail["id"] = jsonString(id)
		}
		details = append(details, detail)
	}
	if raw, err := protocol.Marshal(details); err == nil && len(details) > 0 {
		(*to).ReasoningDetails = raw
	}
}

// reasoningDetail is a part of reasoning as OpenRouter gives it, or a piece of one.
type reasoningDetail map[string]json.RawMessage

// openDetail is a part that comes in pieces. Its texts are written as JSON at its end: to do so
// with each piece takes a time that grows with the square of their number.
type openDetail struct {
	members reasoningDetail
	// texts are the texts of which several pieces came, by their members.
	texts map[string]*strings.Builder
}

// continues reports whether next is a piece of the same part: of the same type, index and id.
// Encrypted parts are not split.
func (o *openDetail) continues(next reasoningDetail) bool {
	d := o.members
	return string(d["type"]) == string(next["type"]) && string(d["index"]) == string(next["index"]) &&
		(string(d["id"]) == string(next["id"]) || !isSet(next["id"])) &&
		string(d["type"]) != `"reasoning.encrypted"`
}

// join appends a piece: texts are concatenated, and of other members the last one that is not null
// counts.
func (o *openDetail) join(next reasoningDetail) {
	for name, value := range next {
		switch {
		case !isSet(value):
		case name == "text", name == "summary":
			o.extend(name, textOf(value))
		default:
			o.members[name] = value
		}
	}
}

func (o *openDetail) extend(name, text string) {
	if o.texts == nil {
		o.texts = map[string]*strings.Builder{}
	}
	if o.texts[name] == nil {
		o.texts[name] = &strings.Builder{}
		o.texts[name].WriteString(textOf(o.members[name]))
	}
	o.texts[name].WriteString(text)
}

// whole returns the part with all of its texts.
func (o *openDetail) whole() reasoningDetail {
	for name, text := range o.texts {
		o.members[name] = jsonString(text.String())
	}
	return o.members
}

// text returns the text of a part.
func (d reasoningDetail) text() string { return cmp.Or(textOf(d["text"]), textOf(d["summary"])) }

func textOf(raw json.RawMessage) string {
	var t text
	_ = protocol.Unmarshal(raw, &t)
	return string(t)
}

func jsonString(s string) json.RawMessage {
	raw, err := protocol.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}
