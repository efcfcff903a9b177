package transcript

import (
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// storedContent is a user's input in the rollout's form, which has other names than the wire's.
type storedContent []protocol.UserInput

// MarshalJSON writes the names of rollouts.
func (c storedContent) MarshalJSON() ([]byte, error) {
	stored := make([]any, len(c))
	for i, input := range c {
		stored[i] = encodeInput(input)
	}
	return protocol.Marshal(stored)
}

// UnmarshalJSON reads the names of rollouts and of the wire.
func (c *storedContent) UnmarshalJSON(raw []byte) error {
	for _, input := range gjson.ParseBytes(raw).Array() {
		*c = append(*c, decodeInput(input))
	}
	return nil
}

func encodeInput(input protocol.UserInput) any {
	switch v := input.UserInputVariant.(type) {
	case *protocol.TextInput:
		elements := []storedTextElement{}
		for _, e := range v.TextElements {
			elements = append(elements, storedTextElement(e))
		}
		return object{"type": "text", "text": v.Text, "text_elements": elements}
	case *protocol.ImageInput:
		return withDetail(object{"type": "image", "image_url": v.URL}, v.Detail)
	case *protocol.LocalImageInput:
		return withDetail(object{"type": "local_image", "path": v.Path}, v.Detail)
	}
	return input
}

func withDetail(o object, detail *string) object {
	if detail != nil {
		o["detail"] = *detail
	}
	return o
}

func decodeInput(input gjson.Result) protocol.UserInput {
	detail := protocol.OrNil(input.Get("detail").Str)
	switch protocol.CamelCase(input.Get("type").Str) {
	case "text":
		return protocol.UserInput{UserInputVariant: &protocol.TextInput{
			Text: input.Get("text").Str, TextElements: textElements(input.Get("text_elements"))}}
	case "image":
		url := cmp.Or(input.Get("image_url").Str, input.Get("url").Str)
		return protocol.UserInput{UserInputVariant: &protocol.ImageInput{URL: url, Detail: detail}}
	case "localImage":
		return protocol.UserInput{UserInputVariant: &protocol.LocalImageInput{Path: input.Get("path").Str, Detail: detail}}
	}
	var other protocol.UserInput
	if protocol.Unmarshal([]byte(input.Raw), &other) != nil {
		other.UserInputVariant = &protocol.Unknown{Tag: input.Get("type").Str, Raw: json.RawMessage(input.Raw)}
	}
	return other
}

// storedTextElement is a range of a text, in bytes.
type storedTextElement struct {
	ByteRange   protocol.ByteRange `json:"byte_range"`
	Placeholder *string            `json:"placeholder"`
}

// textElements returns the ranges of a stored text, by the names of rollouts or of the wire. It skips
// unreadable ranges.
func textElements(stored gjson.Result) []protocol.TextElement {
	elements := []protocol.TextElement{}
	for _, in := range stored.Array() {
		var e storedTextElement
		raw := cmp.Or(in.Get("byte_range").Raw, in.Get("byteRange").Raw)
		if protocol.Unmarshal([]byte(raw), &e.ByteRange) != nil {
			continue
		}
		if placeholder := in.Get("placeholder"); placeholder.Type == gjson.String {
			e.Placeholder = &placeholder.Str
		}
		elements = append(elements, protocol.TextElement(e))
	}
	return elements
}

// inputOfEvent returns the input of a user_message event.
func inputOfEvent(e gjson.Result) []protocol.UserInput {
	input := []protocol.UserInput{}
	if text := e.Get("message").Str; !blank(text) {
		input = append(input, protocol.UserInput{UserInputVariant: &protocol.TextInput{
			Text: text, TextElements: textElements(e.Get("text_elements"))}})
	}
	for i, url := range e.Get("images").Array() {
		detail := detailAt(e.Get("image_details"), i)
		input = append(input, protocol.UserInput{UserInputVariant: &protocol.ImageInput{URL: url.Str, Detail: detail}})
	}
	for i, path := range e.Get("local_images").Array() {
		detail := detailAt(e.Get("local_image_details"), i)
		input = append(input, protocol.UserInput{UserInputVariant: &protocol.LocalImageInput{Path: path.Str, Detail: detail}})
	}
	return input
}

func detailAt(details gjson.Result, i int) *string {
	if list := details.Array(); i < len(list) {
		return protocol.OrNil(list[i].Str)
	}
	return nil
}
