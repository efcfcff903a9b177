package core_test

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"appserver/core"
)

// The commands for MCP servers.

// serverTools returns the tools of the options, NAME:HINTS.
func serverTools(a arguments) (tools []core.ServerTool) {
	yes, no := true, false
	for _, v := range a.all("tool") {
		name, hints, _ := strings.Cut(v, ":")
		t := core.ServerTool{Spec: core.ToolSpec{Name: "mcp__docs__" + name, Description: "Does " + name,
			Parameters: json.RawMessage(`{"type":"object"}`)},
			Server: "docs", Tool: name, Namespace: "mcp__docs", Approval: "auto"}
		for _, hint := range hints {
			switch hint {
			case 'r':
				t.ReadOnly = &yes
			case 'd':
				t.Destructive = &yes
			case 's':
				t.Destructive, t.OpenWorld = &no, &no
			case 'p':
				t.Approval = "prompt"
			case 'a':
				t.Approval = "approve"
			}
		}
		tools = append(tools, t)
	}
	return tools
}

func servers(m *machine, a arguments, _ *strings.Builder) error {
	m.world.Tools, m.world.ToolsPending = serverTools(a), a.has("pending")
	return nil
}

func toolsKnownInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, last[core.AwaitTools](m))
	return core.ToolsKnown{Effect: id, Tools: serverTools(a)}, err
}

func toolProgressInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.CallTool](m))
	return core.ToolProgress{Effect: id, Message: a.word(0)}, err
}

func toolCalledInput(m *machine, a arguments) (core.Input, error) {
	id, err := effectOf(a, first[core.CallTool](m))
	if err != nil {
		return nil, err
	}
	in := core.ToolCalled{Effect: id, Duration: 30 * time.Millisecond}
	if v := a.option("error"); v != nil {
		in.Err = errors.New(*v)
		return in, nil
	}
	in.Result = &core.ServerToolResult{Failed: a.has("failed")}
	for _, o := range a.options {
		switch o.name {
		case "text":
			in.Result.Content = append(in.Result.Content,
				json.RawMessage(encode(map[string]string{"type": "text", "text": o.value})))
		case "image":
			in.Result.Content = append(in.Result.Content,
				json.RawMessage(encode(map[string]string{"type": "image", "mimeType": "image/png", "data": o.value})))
		case "json":
			in.Result.Content = append(in.Result.Content, json.RawMessage(o.value))
		case "structured":
			in.Result.Structured = json.RawMessage(o.value)
		}
	}
	return in, nil
}

func serverAsksInput(_ *machine, a arguments) (core.Input, error) {
	id, err := a.number("question", 1)
	q := core.ServerQuestion{Question: id, Server: "docs", Mode: "form", Message: a.word(0),
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
	if v := a.option("url"); v != nil {
		q.Mode, q.URL, q.ElicitationID, q.Schema = "url", *v, "e1", nil
	}
	return q, err
}

func serverAsksNoMoreInput(_ *machine, a arguments) (core.Input, error) {
	id, err := a.number("question", 1)
	return core.ServerQuestionWithdrawn{Question: id}, err
}
