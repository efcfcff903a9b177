package refusal

import (
	"maps"

	"appserver/core"
	"appserver/protocol"
)

// Demands are the restrictions on requests to a model. The zero value has none.
type Demands struct {
	// Omitted are the members of requests that are left out. A dot separates a member from one within it.
	Omitted map[string]bool
	// Efforts has the efforts that are sent in place of those that a prompt asks for; "" leaves the effort out.
	Efforts map[string]string
	// Tools are the functions that are left out. NoTools leaves out all.
	Tools   map[string]bool
	NoTools bool
	// Plain is set if all tools are functions, Offline if there is no search of the web.
	Plain, Offline bool
	// NoStrict leaves the member strict out of functions of the Responses API.
	NoStrict bool
	// NoRaw leaves out raw reasoning, WantsRaw puts some before each call.
	NoRaw, WantsRaw bool
	// NoImages leaves out all images, Images those with these sums.
	NoImages bool
	Images   map[uint64]bool
	Shape    Shape
	Echo     Echo
	// CompletionLimit is set if the limit of output tokens has its newer name on Chat Completions.
	CompletionLimit bool
	// ShortIDs is set if ids of calls are nine letters and digits. Mistral takes no others, and everybody takes these.
	ShortIDs bool
}

// Shape is the order and the form of messages that a chat template takes.
type Shape struct {
	// Alternating messages of the user and the assistant take turns, with the user first. Outputs of tools do not count.
	Alternating bool
	// SystemFirst has one message of the system, at the top. NoSystem has none.
	SystemFirst, NoSystem bool
	// SingleCalls has a message for each call.
	SingleCalls bool
	// EmptyContent has an empty text in place of null.
	EmptyContent bool
	// TextOutputs has a text in place of the parts of an output, for the Responses API. Chat Completions have no others.
	TextOutputs bool
}

// Echo selects the parts of earlier answers that go back to a model.
type Echo int

const (
	// EchoAsCame sends back what came, by the member that it came by.
	EchoAsCame Echo = iota
	// EchoNothing is for models that reject members of their own answers.
	EchoNothing
	// EchoReasoning puts reasoning_content on every message of the assistant: DeepSeek
	// and Moonshot refuse histories in which other models did not reason.
	EchoReasoning
	// EchoSignature puts a signature on calls that have none, with which Google's models
	// refuse histories of other models.
	EchoSignature
)

// clone returns a copy that shares nothing.
func (d *Demands) clone() *Demands {
	c := *d
	c.Omitted, c.Efforts = maps.Clone(d.Omitted), maps.Clone(d.Efforts)
	c.Tools, c.Images = maps.Clone(d.Tools), maps.Clone(d.Images)
	return &c
}

// Effort returns the effort to send for one that a prompt asks for. ok is false if it was not changed.
func (d *Demands) Effort(wanted string) (effort string, ok bool) {
	effort, ok = d.Efforts[wanted]
	return effort, ok
}

// Prompt returns the prompt with the tools and the images that the model takes. It does not change p.
func (d *Demands) Prompt(p *core.Prompt) *core.Prompt {
	d = d.of(p)
	if !d.NoTools && len(d.Tools) == 0 && !d.Offline && !d.NoImages && len(d.Images) == 0 {
		return p
	}
	adapted := *p
	if d.NoTools || d.Offline {
		adapted.WebSearch = nil
	}
	adapted.Tools = d.tools(p.Tools)
	adapted.Items = d.items(p.Items)
	return &adapted
}

// of adds what is known of the model without a refusal.
func (d *Demands) of(p *core.Prompt) *Demands {
	if d.NoImages || !p.NoImages {
		return d
	}
	known := *d
	known.NoImages = true
	return &known
}

func (d *Demands) tools(all []core.ToolSpec) []core.ToolSpec {
	if d.NoTools {
		return nil
	}
	if len(d.Tools) == 0 {
		return all
	}
	var left []core.ToolSpec
	for _, t := range all {
		if !d.Tools[t.Name] {
			left = append(left, t)
		}
	}
	return left
}

// items replaces images that the model does not take by notes.
func (d *Demands) items(all []protocol.ResponseItem) []protocol.ResponseItem {
	if !d.NoImages && len(d.Images) == 0 {
		return all
	}
	items := make([]protocol.ResponseItem, len(all))
	for i, item := range all {
		items[i] = withParts(item, d.parts)
	}
	return items
}

func (d *Demands) parts(all []protocol.ContentItem) []protocol.ContentItem {
	parts := make([]protocol.ContentItem, len(all))
	for i, part := range all {
		if isImage(&part) {
			if note := d.note(part.ImageURL); note != "" {
				part = protocol.ContentItem{Type: protocol.ContentInputText, Text: note}
			}
		}
		parts[i] = part
	}
	return parts
}

// note returns the text in the place of an image, or "" if the image is sent.
func (d *Demands) note(url string) string {
	switch {
	case d.NoImages:
		return "[An image is left out here: this model does not take images.]"
	case d.Images[sum(url)]:
		return "[An image is left out here: the model provider refused it.]"
	}
	return ""
}
