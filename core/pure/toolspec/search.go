package toolspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// The names of the tools for tools of servers that are not listed in the request.
const (
	ToolSearch = "tool_search"
	CallTool   = "call_tool"
)

const (
	// DefaultFound is the number of tools that a search returns if the model names none, and maxFound the most.
	DefaultFound, maxFound = 8, 20
)

// SearchSpec describes the tool tool_search. servers names the servers whose tools it finds.
func SearchSpec(servers string) Spec {
	return Spec{
		Name: ToolSearch,
		Description: "Finds tools of these servers by words, because their definitions are not listed here: " + servers +
			". The definitions that it finds follow as messages. Call such a tool with " + CallTool + ".",
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
			`"description":"What the tool does, or its name."},"limit":{"type":"integer",` +
			`"description":"The most tools to return. Default: 8."}},"required":["query"],"additionalProperties":false}`),
	}
}

// CallSpec describes the tool call_tool.
var CallSpec = Spec{
	Name:        CallTool,
	Description: "Calls a tool that " + ToolSearch + " has found.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string",` +
		`"description":"The name in the definition."},"arguments":{"type":"object",` +
		`"description":"As the parameters of the definition say."}},"required":["name"],"additionalProperties":false}`),
}

// ToolQuery is a decoded call of tool_search.
type ToolQuery struct {
	Query string
	// Limit is the most tools to return, from 1 on.
	Limit int
}

// ParseToolQuery decodes the arguments of tool_search.
func ParseToolQuery(arguments string) (ToolQuery, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return ToolQuery{}, err
	}
	q := ToolQuery{Query: trimmedQuery(a.text("query")), Limit: DefaultFound}
	if limit := a.integer("limit"); limit != nil {
		q.Limit = int(min(max(*limit, 1), maxFound))
	}
	if q.Query == "" && a.err == nil {
		a.err = errors.New("query must be given")
	}
	return q, a.err
}

// ParseNamedCall decodes the arguments of call_tool: the name of a tool, and its arguments as JSON. Models write these
// as an object, or as a text with an object.
func ParseNamedCall(arguments string) (name, inner string, err error) {
	a, err := readMembers(arguments)
	if err != nil {
		return "", "", err
	}
	if name = strings.TrimSpace(a.text("name")); name == "" && a.err == nil {
		a.err = errors.New("name must be given")
	}
	inner = "{}"
	switch value := gjson.Parse(arguments).Get("arguments"); value.Type {
	case gjson.Null:
	case gjson.String:
		inner = value.Str
	default:
		inner = value.Raw
	}
	return name, inner, a.err
}

// definitionEnd ends the message with the definition of a tool.
const definitionEnd = "\n</tool_definition>"

func definitionHead(name string) string {
	return fmt.Sprintf("%s name=%q>\n", protocol.ToolDefinitionTag, name)
}

// Definition returns the message with the definition of a tool. The JSON in it has no signs that could end it.
func (t *ServerTool) Definition() (string, error) {
	raw, err := json.Marshal(struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}{t.Name, t.Description, t.Parameters})
	if err != nil {
		return "", fmt.Errorf("definition of tool %s: %w", t.Name, err)
	}
	return definitionHead(t.Name) + string(raw) + definitionEnd, nil
}

// DefinedTool returns the name of the tool whose definition a message has, or "".
func DefinedTool(message string) string {
	head, _, _ := strings.Cut(message, "\n")
	quoted, found := strings.CutPrefix(head, protocol.ToolDefinitionTag+" name=")
	name, err := strconv.Unquote(strings.TrimSuffix(quoted, ">"))
	if !found || err != nil {
		return ""
	}
	return name
}

// Size returns the length of the definition, in bytes.
func (s Spec) Size() int { return len(s.Name) + len(s.Description) + len(s.Parameters) }
