package protocol

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// DynamicToolSpec is a tool that the client runs, or a namespace of tools. Type is function (the
// default) or namespace. InputSchema is the JSON Schema of a function's arguments. Tools are the
// functions of a namespace. DeferLoading has no effect: every request offers all tools.
type DynamicToolSpec struct {
	Type         string                `json:"type" default:"function" oneof:"function namespace"`
	Name         string                `json:"name"`
	Description  string                `json:"description"`
	InputSchema  json.RawMessage       `json:"inputSchema,omitempty"`
	DeferLoading bool                  `json:"deferLoading,omitempty"`
	Tools        []DynamicToolFunction `json:"tools,omitempty"`
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
	ThreadID  string          `json:"threadId"`
	TurnID    string          `json:"turnId"`
	CallID    string          `json:"callId"`
	Namespace *string         `json:"namespace"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// DynamicToolCallResponse is the result of a call, for the model.
type DynamicToolCallResponse struct {
	ContentItems []DynamicToolContent `json:"contentItems"`
	Success      bool                 `json:"success"`
}

// DynamicToolContent is a part of a tool's output: a variant, {"type": "inputText", ...}.
type DynamicToolContent struct{ DynamicToolContentVariant }

// DynamicToolContentVariant is *DynamicToolText, *DynamicToolImage or *DynamicToolAudio.
type DynamicToolContentVariant interface{ dynamicToolContent() }

// DynamicToolText is a text.
type DynamicToolText struct {
	Text string `json:"text"`
}

// DynamicToolImage is an image, as a URL.
type DynamicToolImage struct {
	ImageURL string `json:"imageUrl"`
}

// DynamicToolAudio is a sound, as a URL. The model receives a text that it cannot hear it.
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
// DurationMs, in milliseconds, are null until the client has answered.
type DynamicToolCallItem struct {
	ID           string               `json:"id"`
	Namespace    *string              `json:"namespace"`
	Tool         string               `json:"tool"`
	Arguments    json.RawMessage      `json:"arguments"`
	Status       string               `json:"status" oneof:"inProgress completed failed"`
	ContentItems []DynamicToolContent `json:"contentItems"`
	Success      *bool                `json:"success"`
	DurationMs   *int64               `json:"durationMs"`
}

// The states of a DynamicToolCallItem.
const (
	DynamicToolInProgress = "inProgress"
	DynamicToolCompleted  = "completed"
	DynamicToolFailed     = "failed"
)

// ItemID is the id of the call.
func (i *DynamicToolCallItem) ItemID() string { return i.ID }

// ToolRequestUserInputParams asks the user questions. ItemID is the id of the call. IsBlocking is set
// in plan mode, because the work needs the answers. AutoResolutionMs is always null.
type ToolRequestUserInputParams struct {
	ThreadID         string                         `json:"threadId"`
	TurnID           string                         `json:"turnId"`
	ItemID           string                         `json:"itemId"`
	Questions        []ToolRequestUserInputQuestion `json:"questions"`
	IsBlocking       bool                           `json:"isBlocking"`
	AutoResolutionMs *int64                         `json:"autoResolutionMs"`
}

// ToolRequestUserInputQuestion is a question with answers to choose from. IsOther is always
// set: the user may answer in words of their own. IsSecret never is.
type ToolRequestUserInputQuestion struct {
	ID       string                       `json:"id"`
	Header   string                       `json:"header"`
	Question string                       `json:"question"`
	IsOther  bool                         `json:"isOther"`
	IsSecret bool                         `json:"isSecret"`
	Options  []ToolRequestUserInputOption `json:"options"`
}

// ToolRequestUserInputOption is an answer to choose.
type ToolRequestUserInputOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// ToolRequestUserInputResponse is the answers by the ids of the questions.
type ToolRequestUserInputResponse struct {
	Answers map[string]ToolRequestUserInputAnswer `json:"answers"`
}

// ToolRequestUserInputAnswer has the options that the user chose for one question, or the text that
// the user wrote.
type ToolRequestUserInputAnswer struct {
	Answers []string `json:"answers"`
}

// CollaborationMode is the mode of a thread's turns, plan or default, with settings that override
// those beside it. DeveloperInstructions replace the instructions for the mode. Null selects the
// server's own.
type CollaborationMode struct {
	Mode     string                    `json:"mode" oneof:"plan default"`
	Settings CollaborationModeSettings `json:"settings"`
}

// ActiveMode is the mode of a thread's next turn, with the settings in force.
type ActiveMode struct {
	Mode     string             `json:"mode" oneof:"plan default"`
	Settings StoredModeSettings `json:"settings"`
}

// CollaborationModeSettings are the settings of a mode; null leaves the effort to the
// model.
type CollaborationModeSettings struct {
	Model                 string  `json:"model"`
	ReasoningEffort       *string `json:"reasoning_effort,omitempty"`
	DeveloperInstructions *string `json:"developer_instructions,omitempty"`
}
