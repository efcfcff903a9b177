package toolspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"appserver/core/pure/imagefile"
	"appserver/core/pure/toolschema"
	"appserver/protocol"
)

// ServerTool is a tool of an MCP server.
type ServerTool struct {
	// Spec has the name that the model calls the tool by.
	Spec
	// Server is the name of the server. Tool is the name of the tool on the server.
	Server, Tool string
	// Schema is the schema of its arguments.
	Schema toolschema.Schema
	// Namespace is the common prefix of the names of the server's tools, or "".
	Namespace string
	// ReadOnly, Destructive and OpenWorld are the server's hints, or nil. Annotations is the object
	// that has them, as the server wrote it, or nil.
	ReadOnly, Destructive, OpenWorld *bool
	Annotations                      json.RawMessage
	// Approval is the approval mode: with "auto", the hints and the approval policy decide; with
	// "prompt", the user decides each call; with "approve", each call runs.
	Approval string
	// Offer is the way in which the model gets the definition of the tool.
	Offer Offer
	// Instructions is the server's text about the use of its tools, or "". It is equal for all tools of a server.
	Instructions string
	// Serial is set if no call of the tool runs beside others.
	Serial bool
}

// Offer is the way in which a model gets the definition of a tool.
type Offer uint8

// The ways in which a tool is offered.
const (
	// OfferByShare offers the definition in each request if the share of the context window permits it, and by a search
	// otherwise.
	OfferByShare Offer = iota
	// OfferDirect offers the definition in each request.
	OfferDirect
	// OfferBySearch offers the definition by a search only.
	OfferBySearch
)

// The approval modes that are not the default.
const (
	approvePrompt = "prompt"
	approveAlways = "approve"
)

// RolloutName returns the namespace and the name for rollouts, as the reference implementation writes
// them. The namespace is "" if the name does not begin with it.
func (t *ServerTool) RolloutName() (namespace, name string) {
	if rest, ok := strings.CutPrefix(t.Name, t.Namespace+separator); ok && t.Namespace != "" {
		return t.Namespace, rest
	}
	return "", t.Name
}

// Harmless reports whether the server's hints permit to run the tool without a question. The mode
// "prompt" is for servers whose hints are not trusted.
func (t *ServerTool) Harmless() bool {
	is := func(hint *bool, value bool) bool { return hint != nil && *hint == value }
	switch {
	case t.Approval == approvePrompt, is(t.Destructive, true):
		return false
	case is(t.ReadOnly, true):
		return true
	}
	return is(t.Destructive, false) && is(t.OpenWorld, false)
}

// Key identifies the tool for acceptForSession.
func (t *ServerTool) Key() string { return "mcp\x00" + t.Server + "\x00" + t.Tool }

// ParseCall decodes the arguments of a call. Empty arguments are an empty object.
func (t *ServerTool) ParseCall(arguments string) (json.RawMessage, error) {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	if !protocol.Valid([]byte(arguments)) || arguments[0] != '{' {
		return nil, errors.New("they must be a JSON object")
	}
	return Conform(t.Schema.Original, t.Schema.Restore(json.RawMessage(arguments))), nil
}

// ServerResult is the result of a tool of a server. Content and Structured are bounded.
type ServerResult struct {
	Content    []json.RawMessage
	Structured json.RawMessage // or nil
	Meta       json.RawMessage // or nil
	// Shown is the result of Parts, or nil if it was not made yet.
	Shown []protocol.ContentItem
	// Failed is set if the tool reports that it failed.
	Failed bool
	// FailedWritten is set if the server wrote isError, true or false.
	FailedWritten bool
}

// IsError returns the member isError as the server wrote it, or nil.
func (r *ServerResult) IsError() *bool {
	if !r.Failed && !r.FailedWritten {
		return nil
	}
	return &r.Failed
}

// maxImages bounds the images of a result.
const maxImages = 4

// Output converts the result for the model: its structured content, or else its content. For a nil result the text is
// the reason. ms is the duration in milliseconds.
func (r *ServerResult) Output(reason string, ms int64) protocol.ToolOutput {
	head := fmt.Sprintf("Wall time: %.4f seconds\nOutput:", float64(ms)/1000)
	switch {
	case r == nil:
		return protocol.ToolOutput{Text: head + "\n" + reason}
	case r.Structured != nil:
		return protocol.ToolOutput{Text: head + "\n" + r.shown()[0].Text}
	}
	return protocol.ToolOutput{Parts: append([]protocol.ContentItem{textPart(head)}, r.shown()...)}
}

// shown returns the parts for the model.
func (r *ServerResult) shown() []protocol.ContentItem {
	if r.Shown != nil {
		return r.Shown
	}
	return r.Parts(Origin{}, nil)
}

func textPart(text string) protocol.ContentItem {
	return protocol.ContentItem{Type: protocol.ContentInputText, Text: text}
}

// ImagePart returns the image of a data: or http URL for the model, or a text with the reason why it cannot be sent.
func ImagePart(url string) protocol.ContentItem {
	sent, err := imagefile.URL(url)
	if err != nil {
		return textPart("[an image is left out: " + err.Error() + "]")
	}
	return protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: sent}
}
