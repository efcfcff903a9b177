package protocol

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// DynamicToolSpec is a tool that the client runs, or a namespace of tools.
type DynamicToolSpec struct {
	// Type is function, the default, or namespace.
	Type        string `json:"type" default:"function" oneof:"function namespace"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// InputSchema is the JSON Schema of a function's arguments.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// DeferLoading has no effect: every request offers all tools.
	DeferLoading bool `json:"deferLoading,omitempty"`
	// Tools are the functions of a namespace.
	Tools []DynamicToolFunction `json:"tools,omitempty"`
}

// DynamicToolNamespace is the type of a namespace of tools.
const DynamicToolNamespace = "namespace"

// DynamicToolFunction is a tool of a namespace.
type DynamicToolFunction struct {
	Type         string          `json:"type" default:"function" oneof:"function"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	DeferLoading bool            `json:"deferLoading,omitempty"`
}

// DynamicToolCallParams asks the client to run one of its tools.
type DynamicToolCallParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	CallID   string `json:"callId"`
	// Namespace is null for a tool without a namespace.
	Namespace *string `json:"namespace"`
	Tool      string  `json:"tool"`
	// Arguments are the JSON arguments from the model.
	Arguments json.RawMessage `json:"arguments"`
}

// DynamicToolCallResponse is the output of a tool, for the model.
type DynamicToolCallResponse struct {
	ContentItems []DynamicToolContent `json:"contentItems"`
	Success      bool                 `json:"success"`
}

// DynamicToolContent is a part of a tool's output, with a tag: {"type": "inputText", ...}.
type DynamicToolContent struct{ DynamicToolContentVariant }

// DynamicToolContentVariant is *DynamicToolText, *DynamicToolImage or *DynamicToolAudio.
type DynamicToolContentVariant interface{ dynamicToolContent() }

// DynamicToolText is a text.
type DynamicToolText struct {
	Text string `json:"text"`
}

// DynamicToolImage is an image by URL.
type DynamicToolImage struct {
	ImageURL string `json:"imageUrl"`
}

// DynamicToolAudio is a sound by URL. The model receives a text that it cannot hear it.
type DynamicToolAudio struct {
	AudioURL string `json:"audioUrl"`
}

func (*DynamicToolText) dynamicToolContent()  {}
func (*DynamicToolImage) dynamicToolContent() {}
func (*DynamicToolAudio) dynamicToolContent() {}

var dynamicToolContents = newVariants("type",
	variantRow[DynamicToolContentVariant]{"inputText", &DynamicToolText{}},
	variantRow[DynamicToolContentVariant]{"inputImage", &DynamicToolImage{}},
	variantRow[DynamicToolContentVariant]{"inputAudio", &DynamicToolAudio{}},
)

// MarshalJSON writes the variant with its type.
func (c DynamicToolContent) MarshalJSON() ([]byte, error) {
	return dynamicToolContents.encode(c.DynamicToolContentVariant)
}

// UnmarshalJSON accepts the known variants only.
func (c *DynamicToolContent) UnmarshalJSON(b []byte) error {
	v, err := dynamicToolContents.strict(gjson.ParseBytes(b))
	c.DynamicToolContentVariant = v
	return err
}

// DynamicToolCallItem is a call of a tool that the client runs. ContentItems, Success and
// DurationMs are null until the client has responded.
type DynamicToolCallItem struct {
	ID           string               `json:"id"`
	Namespace    *string              `json:"namespace"`
	Tool         string               `json:"tool"`
	Arguments    json.RawMessage      `json:"arguments"`
	Status       string               `json:"status" oneof:"inProgress completed failed"`
	ContentItems []DynamicToolContent `json:"contentItems"`
	Success      *bool                `json:"success"`
	// DurationMs is in milliseconds.
	DurationMs *int64 `json:"durationMs"`
}

// The states of a DynamicToolCallItem.
const (
	DynamicToolInProgress = "inProgress"
	DynamicToolCompleted  = "completed"
	DynamicToolFailed     = "failed"
)

// ItemID returns the id of the call.
func (i *DynamicToolCallItem) ItemID() string { return i.ID }

// ToolRequestUserInputParams asks the user questions.
type ToolRequestUserInputParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	// ItemID is the id of the call.
	ItemID    string                         `json:"itemId"`
	Questions []ToolRequestUserInputQuestion `json:"questions"`
	// IsBlocking is set in plan mode, because the work depends on the answers.
	IsBlocking bool `json:"isBlocking"`
	// AutoResolutionMs is always null.
	AutoResolutionMs *int64 `json:"autoResolutionMs"`
}

// ToolRequestUserInputQuestion is a question with answers to select from.
type ToolRequestUserInputQuestion struct {
	ID       string `json:"id"`
	Header   string `json:"header"`
	Question string `json:"question"`
	// IsOther is always true: the user can answer in other words.
	IsOther bool `json:"isOther"`
	// IsSecret is always false.
	IsSecret bool                         `json:"isSecret"`
	Options  []ToolRequestUserInputOption `json:"options"`
}

// ToolRequestUserInputOption is an answer to select.
type ToolRequestUserInputOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// ToolRequestUserInputResponse has the answers of the user.
type ToolRequestUserInputResponse struct {
	// Answers has the answers by the ids of the questions.
	Answers map[string]ToolRequestUserInputAnswer `json:"answers"`
}

// ToolRequestUserInputAnswer has the selected options of one question, or the text of the user.
type ToolRequestUserInputAnswer struct {
	Answers []string `json:"answers"`
}

// CollaborationMode is the mode of a thread's turns, plan or default, with settings that override
// those beside it.
type CollaborationMode struct {
	Mode     string                    `json:"mode" oneof:"plan default"`
	Settings CollaborationModeSettings `json:"settings"`
}

// ActiveMode is the mode of a thread's next turn, with the settings in force.
type ActiveMode struct {
	Mode     string             `json:"mode" oneof:"plan default"`
	Settings StoredModeSettings `json:"settings"`
}

// CollaborationModeSettings has the settings of a mode.
type CollaborationModeSettings struct {
	Model string `json:"model"`
	// ReasoningEffort is null to leave the effort to the model.
	ReasoningEffort *string `json:"reasoning_effort,omitempty"`
	// DeveloperInstructions replace the instructions for the mode. Null selects the server's own.
	DeveloperInstructions *string `json:"developer_instructions,omitempty"`
}
