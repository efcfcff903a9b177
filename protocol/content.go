package protocol

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// ContentItem is a part of a message, or of the output of a tool:
// {"type": "input_text", "text": ...}, {"type": "output_text", "text": ...} or
// {"type": "input_image", "image_url": ..., "detail": ...}.
type ContentItem struct {
	Type     string
	Text     string
	ImageURL string
	// Detail is auto, low, high or original. "" leaves the choice to the model.
	Detail string
	// Raw is a part of another type, or an image without an image_url. It is written unchanged.
	// Type and Text have its readable members.
	Raw json.RawMessage
}

// The types of a ContentItem.
const (
	ContentInputText  = "input_text"
	ContentOutputText = "output_text"
	ContentInputImage = "input_image"
)

type (
	contentText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	contentImage struct {
		Type     string `json:"type"`
		ImageURL string `json:"image_url"`
		Detail   string `json:"detail,omitempty"`
	}
)

// JoinText returns the texts of the parts, each on its own line.
func JoinText(parts []ContentItem) string {
	if len(parts) == 1 {
		return parts[0].Text
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// MarshalJSON writes the members of the part's type.
func (c ContentItem) MarshalJSON() ([]byte, error) {
	switch {
	case c.Raw != nil:
		return c.Raw, nil
	case c.Type == ContentInputImage:
		return marshal(contentImage{c.Type, c.ImageURL, c.Detail})
	}
	return marshal(contentText{c.Type, c.Text})
}

// UnmarshalJSON reads a part of any type.
func (c *ContentItem) UnmarshalJSON(b []byte) error {
	if c.readText(b) {
		return nil
	}
	in := gjson.ParseBytes(b)
	if !in.IsObject() {
		return wrongType(in, "an object")
	}
	text := in.Get("text") // once: each look at an escaped text is a copy
	*c = ContentItem{Type: textOf(in.Get("type")), Text: textOf(text)}
	switch {
	case (c.Type == ContentInputText || c.Type == ContentOutputText) && text.Type == gjson.String:
	case c.Type == ContentInputImage && in.Get("image_url").Type == gjson.String:
		c.ImageURL, c.Detail = textOf(in.Get("image_url")), textOf(in.Get("detail"))
	default:
		c.Raw = bytes.Clone(b)
	}
	return nil
}

// readText reads a text part that has its two members only, which nearly all parts are. It returns false for
// other parts, and for texts that are not UTF-8.
func (c *ContentItem) readText(b []byte) bool {
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	var kind, text []byte
	for name, value := range Members(b) {
		switch {
		case name == "type" && kind == nil:
			kind = value
		case name == "text" && text == nil:
			text = value
		default:
			return false
		}
	}
	decoded, plain := plainText(text)
	switch {
	case !plain:
		return false
	case string(kind) == `"`+ContentInputText+`"`:
		*c = ContentItem{Type: ContentInputText}
	case string(kind) == `"`+ContentOutputText+`"`:
		*c = ContentItem{Type: ContentOutputText}
	default:
		return false
	}
	c.Text = decoded
	return true
}

// ToolOutput is the output of a tool: text, or a list of text and image parts.
type ToolOutput struct {
	Text  string
	Parts []ContentItem
}

// MarshalJSON writes a string if there are no parts.
func (o ToolOutput) MarshalJSON() ([]byte, error) {
	if o.Parts != nil {
		return marshal(o.Parts)
	}
	return marshal(o.Text)
}

// UnmarshalJSON accepts a string, a list of parts, or the older
// {"content": <either of them>, "success": ...}.
func (o *ToolOutput) UnmarshalJSON(b []byte) error {
	if text, ok := plainText(b); ok {
		*o = ToolOutput{Text: text}
		return nil
	}
	in := gjson.ParseBytes(b)
	if in.IsObject() {
		in = in.Get("content")
	}
	*o = ToolOutput{}
	switch {
	case in.Type == gjson.Null:
		return nil
	case in.Type == gjson.String:
		o.Text = textOf(in)
		return nil
	case in.IsArray():
		return Unmarshal([]byte(in.Raw), &o.Parts)
	}
	return wrongType(in, "a string or a list of parts")
}

// String returns the text of the output, without images.
func (o ToolOutput) String() string {
	text := o.Text
	for _, p := range o.Parts {
		text += p.Text
	}
	return text
}
