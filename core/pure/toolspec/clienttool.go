package toolspec

import (
	"encoding/json"
	"slices"
	"strings"

	"appserver/core/pure/toolschema"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// ClientTool is a tool that the client runs.
type ClientTool struct {
	// Spec has the name that the model calls the tool by.
	Spec
	// Namespace and Tool are the names that the client gave. Namespace can be nil.
	Namespace *string
	Tool      string
	// Schema is the schema of its arguments.
	Schema toolschema.Schema
}

// separator joins a namespace and the name of a tool, since Chat Completions has no namespaces.
const separator = "__"

// ClientTools returns the tools of a thread's client, including the tools of its namespaces.
func ClientTools(specs []protocol.DynamicToolSpec) (tools []ClientTool) {
	for i := range specs {
		s := &specs[i]
		if s.Type != protocol.DynamicToolNamespace {
			tools = append(tools, clientTool(s.Name, s.Description, s.InputSchema, nil, s.Name))
			continue
		}
		for _, f := range s.Tools {
			description := f.Description
			if s.Description != "" {
				description = s.Description + ": " + description
			}
			tools = append(tools, clientTool(s.Name+separator+f.Name, description, f.InputSchema, &s.Name, f.Name))
		}
	}
	return tools
}

func clientTool(name, description string, input json.RawMessage, namespace *string, tool string) ClientTool {
	schema := toolschema.Normalize(input)
	return ClientTool{Spec{offeredName(name), description, schema.JSON}, namespace, tool, schema}
}

// offeredName returns the name by which the model calls a tool. Gemini rejects names that begin with a digit or a dash.
func offeredName(name string) string {
	if name != "" && strings.ContainsRune("0123456789-", rune(name[0])) {
		return "_" + name
	}
	return name
}

// maxToolName is the longest name of a tool that all supported APIs accept.
const maxToolName = 64

// toolName matches the names that all supported APIs accept.
var toolName = pattern.New(`^[a-zA-Z0-9_-]+$`)

// CheckDynamicTools rejects tools that cannot be offered to every model: by a wrong, long, duplicate
// or built-in name, or by a schema that is no object. builtIn has the names of the built-in tools, offered or not.
func CheckDynamicTools(specs []protocol.DynamicToolSpec, builtIn []string) *protocol.Error {
	seen := map[string]bool{}
	for _, s := range specs {
		if s.Type == protocol.DynamicToolNamespace && !toolName().MatchString(s.Name) {
			return errTool("dynamic tool namespace must match %v: %s", toolName(), s.Name)
		}
	}
	for _, t := range ClientTools(specs) {
		switch {
		case !toolName().MatchString(t.Tool):
			return errTool("dynamic tool name must match %v: %s", toolName(), t.Tool)
		case len(t.Name) > maxToolName:
			return errTool("dynamic tool name is longer than %d characters: %s", maxToolName, t.Name)
		case seen[t.Name]:
			return errTool("duplicate dynamic tool name: %s", t.Name)
		case IsShell(t.Name) || slices.Contains(builtIn, t.Name):
			return errTool("dynamic tool name is that of a built-in tool: %s", t.Name)
		}
		seen[t.Name] = true
	}
	return checkSchemas(specs)
}

// checkSchemas rejects schemas that are no objects.
func checkSchemas(specs []protocol.DynamicToolSpec) *protocol.Error {
	check := func(name string, input json.RawMessage) *protocol.Error {
		var schema map[string]json.RawMessage
		if protocol.Unmarshal(input, &schema) != nil || schema == nil {
			return errTool("dynamic tool input schema is not supported for %s: expected an object", name)
		}
		return nil
	}
	for _, s := range specs {
		if s.Type != protocol.DynamicToolNamespace {
			if err := check(s.Name, s.InputSchema); err != nil {
				return err
			}
		}
		for _, f := range s.Tools {
			if err := check(s.Name+separator+f.Name, f.InputSchema); err != nil {
				return err
			}
		}
	}
	return nil
}

func errTool(format string, args ...any) *protocol.Error {
	err := protocol.Refuse(protocol.KindInvalidParams, format, args...)
	err.Data.Field = "dynamicTools"
	return err
}

// ClientOutput converts the result of a client's tool for the model: texts only to one text, others
// to parts.
func ClientOutput(contents []protocol.DynamicToolContent) protocol.ToolOutput {
	var parts []protocol.ContentItem
	var lines []string
	for _, content := range contents {
		part := protocol.ContentItem{Type: protocol.ContentInputText}
		switch v := content.DynamicToolContentVariant.(type) {
		case *protocol.DynamicToolText:
			part.Text = v.Text
		case *protocol.DynamicToolImage:
			part = ImagePart(v.ImageURL)
		default:
			part.Text = "[audio: it cannot be sent to the model]"
		}
		parts = append(parts, part)
		if part.Type == protocol.ContentInputText {
			lines = append(lines, part.Text)
		}
	}
	if len(lines) < len(parts) {
		return protocol.ToolOutput{Parts: parts}
	}
	return protocol.ToolOutput{Text: strings.Join(lines, "\n")}
}
