package protocol

import (
	"encoding/json"
	"strings"
)

// ResponseItem is one entry of the model's input history, with a tag: {"type": "message", ...} and
// so on. Unknown members are not kept, because nothing rewrites the lines that have them.
type ResponseItem struct{ ResponseItemVariant }

// ResponseItemVariant is *Message, *Reasoning, *FunctionCall, *FunctionCallOutput,
// *CustomToolCall, *CustomToolCallOutput, *LocalShellCall or *Unknown.
type ResponseItemVariant interface{ responseItem() }

// Message has text and images of one role.
type Message struct {
	ID      string        `json:"id,omitempty"`
	Role    string        `json:"role"`
	Content []ContentItem `json:"content"`
	// Phase is commentary, partial_answer or final_answer, or "" if the model does not report it.
	Phase   string        `json:"phase,omitempty"`
	TurnRef *TurnRef      `json:"internal_chat_message_metadata_passthrough,omitempty"`
	Echo    *ProviderEcho `json:"provider_echo,omitempty"`
}

// The roles of a Message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleDeveloper = "developer"
	RoleSystem    = "system"
)

// TurnRef identifies the turn of an item.
type TurnRef struct {
	TurnID string `json:"turn_id,omitempty"`
}

// ProviderEcho is data that the provider of an answer needs back in later requests. Only that provider
// receives it, and only for that model. It is stored with the answer's first call, or with its text if
// it has no calls. ExtraContent is stored with its own call. The reference implementation ignores the
// member.
type ProviderEcho struct {
	Provider string `json:"model_provider"`
	Model    string `json:"model"`
	// Reasoning is the name of the member that had the text of the reasoning items before: reasoning or
	// reasoning_content, or "" without reasoning.
	Reasoning string `json:"reasoning_member,omitempty"`
	// ReasoningDetails is a list of further data of the reasoning, such as signatures.
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	// ExtraContent is an object beside a call, such as the signature of a thought.
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

// Reasoning is the reasoning of the model. Only the provider can read EncryptedContent.
type Reasoning struct {
	ID string `json:"id,omitempty"`
	// Summary is the text to show.
	Summary []ReasoningText `json:"summary"`
	// Content is the raw text, if the provider sends it.
	Content          []ReasoningText `json:"content,omitempty"`
	EncryptedContent *string         `json:"encrypted_content"`
	TurnRef          *TurnRef        `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

// ReasoningText is a part of a Reasoning: summary_text, reasoning_text or text.
type ReasoningText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// FunctionCall is a tool call.
type FunctionCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	// Arguments is the JSON text of the model. It can be invalid.
	Arguments string `json:"arguments"`
	// CallID is the id that the call shares with its output.
	CallID  string        `json:"call_id"`
	TurnRef *TurnRef      `json:"internal_chat_message_metadata_passthrough,omitempty"`
	Echo    *ProviderEcho `json:"provider_echo,omitempty"`
}

// The namespaces in rollouts of the tools for agents, which models get without a namespace. AgentsNamespace has those
// that name agents by their ids, and PeersNamespace those that name them by their paths.
const (
	AgentsNamespace = "multi_agent_v1"
	PeersNamespace  = "collaboration"
)

// FullName returns the tool name of Chat Completions: the namespace, mcp__SERVER for MCP servers,
// precedes the name. The names of tools for agents have none.
func (c *FunctionCall) FullName() string {
	if c.Namespace == AgentsNamespace || c.Namespace == PeersNamespace {
		return c.Name
	}
	if strings.HasPrefix(c.Namespace, "mcp__") && !strings.HasSuffix(c.Namespace, "__") {
		return c.Namespace + "__" + c.Name
	}
	return c.Namespace + c.Name
}

// FunctionCallOutput is the output of the FunctionCall with the same CallID.
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

// CustomToolCallOutput is the output of the CustomToolCall with the same CallID.
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

// LocalShellAction is the action of a LocalShellCall: {"type": "exec", "command": [<program>,
// <argument>...]}.
type LocalShellAction struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
}

func (*Message) responseItem()              {}
func (*Reasoning) responseItem()            {}
func (*FunctionCall) responseItem()         {}
func (*FunctionCallOutput) responseItem()   {}
func (*CustomToolCall) responseItem()       {}
func (*CustomToolCallOutput) responseItem() {}
func (*LocalShellCall) responseItem()       {}
func (*Unknown) responseItem()              {}

var responseItems = newVariants("type",
	variantRow[ResponseItemVariant]{"message", &Message{}},
	variantRow[ResponseItemVariant]{"reasoning", &Reasoning{}},
	variantRow[ResponseItemVariant]{"function_call", &FunctionCall{}},
	variantRow[ResponseItemVariant]{"function_call_output", &FunctionCallOutput{}},
	variantRow[ResponseItemVariant]{"custom_tool_call", &CustomToolCall{}},
	variantRow[ResponseItemVariant]{"custom_tool_call_output", &CustomToolCallOutput{}},
	variantRow[ResponseItemVariant]{"local_shell_call", &LocalShellCall{}},
)

// MarshalJSON writes the variant with its type.
func (i ResponseItem) MarshalJSON() ([]byte, error) {
	return responseItems.encode(i.ResponseItemVariant)
}

// UnmarshalJSON keeps unknown variants as raw JSON.
func (i *ResponseItem) UnmarshalJSON(b []byte) error {
	if v, ok := plainItem(b); ok {
		i.ResponseItemVariant = v
		return nil
	}
	v, err := responseItems.tolerant(b)
	i.ResponseItemVariant = v
	return err
}
