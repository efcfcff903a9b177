package protocol

import "encoding/json"

// ResponseItem is one entry of the model's input history, as rollouts keep it.
type ResponseItem struct{ ResponseItemVariant }

// ResponseItemVariant is Message, Reasoning, FunctionCall, FunctionCallOutput,
// CustomToolCall, CustomToolCallOutput, LocalShellCall, or *Unknown.
type ResponseItemVariant interface{ responseItem() }

// Message is text and images of one role: user, assistant, developer or system.
type Message struct {
	ID      string        `json:"id,omitempty"`
	Role    string        `json:"role"`
	Content []ContentItem `json:"content"`
	Phase   string        `json:"phase,omitempty"`
	TurnRef *TurnRef      `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// The roles of a Message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleDeveloper = "developer"
	RoleSystem    = "system"
)

// TurnRef names the turn that an item belongs to.
type TurnRef struct {
	TurnID string `json:"turn_id,omitempty"`
}

// ContentItem is a part of a message. Type is input_text, output_text, or
// input_image with ImageURL; other types keep only their Type.
type ContentItem struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// The types of a ContentItem.
const (
	ContentInputText  = "input_text"
	ContentOutputText = "output_text"
	ContentInputImage = "input_image"
)

// Reasoning is what the model thought. Summary is what may be shown, Content the
// raw text where the provider gives it.
type Reasoning struct {
	ID               string          `json:"id,omitempty"`
	Summary          []ReasoningText `json:"summary"`
	Content          []ReasoningText `json:"content,omitempty"`
	EncryptedContent *string         `json:"encrypted_content"`
	TurnRef          *TurnRef        `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// ReasoningText is a part of a Reasoning: summary_text, reasoning_text or text.
type ReasoningText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// FunctionCall is a tool call. Arguments is the JSON text the model wrote, which
// need not be valid.
type FunctionCall struct {
	ID        string   `json:"id,omitempty"`
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	Arguments string   `json:"arguments"`
	CallID    string   `json:"call_id"`
	TurnRef   *TurnRef `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// FunctionCallOutput answers a FunctionCall.
type FunctionCallOutput struct {
	ID      string     `json:"id,omitempty"`
	CallID  string     `json:"call_id,omitempty"`
	Output  ToolOutput `json:"output"`
	TurnRef *TurnRef   `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// CustomToolCall is a tool call whose input is free text.
type CustomToolCall struct {
	ID      string   `json:"id,omitempty"`
	Status  string   `json:"status,omitempty"`
	CallID  string   `json:"call_id"`
	Name    string   `json:"name"`
	Input   string   `json:"input"`
	TurnRef *TurnRef `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// CustomToolCallOutput answers a CustomToolCall.
type CustomToolCallOutput struct {
	ID      string     `json:"id,omitempty"`
	CallID  string     `json:"call_id"`
	Output  ToolOutput `json:"output"`
	TurnRef *TurnRef   `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// LocalShellCall is the shell call of older models.
type LocalShellCall struct {
	ID      string           `json:"id,omitempty"`
	CallID  string           `json:"call_id"`
	Status  string           `json:"status"`
	Action  LocalShellAction `json:"action"`
	TurnRef *TurnRef         `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// LocalShellAction is what a LocalShellCall runs.
type LocalShellAction struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
}

// ToolOutput is what a tool answered: text, or a list of text and image parts.
type ToolOutput struct {
	Text  string
	Parts []ContentItem
}

// MarshalJSON writes a string where there are no parts.
func (o ToolOutput) MarshalJSON() ([]byte, error) {
	if o.Parts != nil {
		return marshal(o.Parts)
	}
	return marshal(o.Text)
}

// UnmarshalJSON accepts a string, a list of parts, or the older
// {"content": ..., "success": ...}.
func (o *ToolOutput) UnmarshalJSON(b []byte) error {
	*o = ToolOutput{}
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &o.Text)
	case len(b) > 0 && b[0] == '{':
		var old struct{ Content string }
		err := json.Unmarshal(b, &old)
		o.Text = old.Content
		return err
	}
	return json.Unmarshal(b, &o.Parts)
}

// String is the text of the output; images are left out.
func (o ToolOutput) String() string {
	text := o.Text
	for _, p := range o.Parts {
		text += p.Text
	}
	return text
}

func (*Message) responseItem()              {}
func (*Reasoning) responseItem()            {}
func (*FunctionCall) responseItem()         {}
func (*FunctionCallOutput) responseItem()   {}
func (*CustomToolCall) responseItem()       {}
func (*CustomToolCallOutput) responseItem() {}
func (*LocalShellCall) responseItem()       {}
func (*Unknown) responseItem()              {}

var responseItems = newVariants[ResponseItemVariant]("type",
	variantRow[ResponseItemVariant]{"message", func() ResponseItemVariant { return &Message{Content: []ContentItem{}} }},
	variantRow[ResponseItemVariant]{"reasoning", func() ResponseItemVariant { return &Reasoning{Summary: []ReasoningText{}} }},
	variantRow[ResponseItemVariant]{"function_call", func() ResponseItemVariant { return &FunctionCall{} }},
	variantRow[ResponseItemVariant]{"function_call_output", func() ResponseItemVariant { return &FunctionCallOutput{} }},
	variantRow[ResponseItemVariant]{"custom_tool_call", func() ResponseItemVariant { return &CustomToolCall{} }},
	variantRow[ResponseItemVariant]{"custom_tool_call_output", func() ResponseItemVariant { return &CustomToolCallOutput{} }},
	variantRow[ResponseItemVariant]{"local_shell_call", func() ResponseItemVariant { return &LocalShellCall{} }},
)

// MarshalJSON writes the variant with its type.
func (i ResponseItem) MarshalJSON() ([]byte, error) {
	if u, ok := i.ResponseItemVariant.(*Unknown); ok {
		return u.Raw, nil
	}
	return responseItems.encode(i.ResponseItemVariant)
}

// UnmarshalJSON keeps unknown variants as raw JSON.
func (i *ResponseItem) UnmarshalJSON(b []byte) error {
	v, tag, ok, err := responseItems.decode(b)
	if err != nil {
		return err
	}
	if !ok {
		v = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), b...)}
	}
	i.ResponseItemVariant = v
	return nil
}
