package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// callableTools returns the tools of the next request, and those that are found by a search.
func (t *Thread) callableTools() []ToolSpec {
	tools := t.tools()
	for i := range t.serverTools {
		if tool := &t.serverTools[i]; t.searched.has(tool) {
			tools = append(tools, tool.Spec)
		}
	}
	return tools
}

func searchTool() builtInTool {
	return builtInTool{
		name:    toolspec.ToolSearch,
		spec:    func(t *Thread) ToolSpec { return toolspec.SearchSpec(t.searched.text) },
		offered: (*Thread).searchesTools,
		decode: func(_ *step, c *toolCall) (callKind, error) {
			query, err := toolspec.ParseToolQuery(c.call.Arguments)
			return &searchCall{query}, err
		},
	}
}

// searchesTools reports whether tools of servers are found by a search.
func (t *Thread) searchesTools() bool { return t.searched.text != "" }

// searchCall is a call of tool_search.
type searchCall struct{ toolspec.ToolQuery }

func (k *searchCall) readsOnly(*step) bool { return false }

// start completes the call with the names of the tools. Their definitions follow as messages before the next request.
func (k *searchCall) start(s *step, c *toolCall) {
	var lines []string
	left, known := s.outputTokens(), s.definitions()
	for _, tool := range s.matchingTools(k.ToolQuery) {
		note, cost := s.offerDefinition(tool, known, left)
		left -= cost
		lines = append(lines, "- "+tool.Name+note)
	}
	if len(lines) == 0 {
		s.completeCall(c,
			"No tool matches. Try other words. The servers and the numbers of their tools: "+s.searched.text+".")
		return
	}
	s.completeCall(c, fmt.Sprintf("Found. Call a tool with %s and its name.\n%s", toolspec.CallTool,
		strings.Join(lines, "\n")))
}

// matchingTools returns the tools that a search finds, best first.
func (s *step) matchingTools(query toolspec.ToolQuery) (found []*ServerTool) {
	ranking := digest.NewRanking(query.Query)
	var searched []*ServerTool
	for i := range s.serverTools {
		tool := &s.serverTools[i]
		if !s.searched.has(tool) {
			continue
		}
		if tool.Name == query.Query || tool.Tool == query.Query {
			found = append(found, tool)
		}
		at := ranking.Add()
		ranking.Subject(at, tool.Server+" "+tool.Tool)
		ranking.Append(at, tool.Description)
		gjson.GetBytes(tool.Parameters, "properties").ForEach(func(name, schema gjson.Result) bool {
			ranking.Append(at, name.Str+" "+schema.Get("description").Str)
			return true
		})
		searched = append(searched, tool)
	}
	for _, at := range ranking.Best(query.Limit) {
		if !slices.Contains(found, searched[at]) {
			found = append(found, searched[at])
		}
	}
	return found[:min(len(found), query.Limit)]
}

// offerDefinition adds the definition of a tool to those that follow, unless the context has it, the user excluded it,
// or it takes more tokens than are left. known are the definitions in the context. It returns a note for the model
// about a definition that does not follow, and the cost of one that follows.
func (s *step) offerDefinition(tool *ServerTool, known map[string]int, left int64) (note string, cost int64) {
	text, err := tool.Definition()
	if err != nil {
		return " (its definition is not valid)", 0
	}
	if place, found := known[tool.Name]; found {
		switch item := s.context.Item(place); {
		case !item.Kept():
			return " (the user excluded its definition from the context)", 0
		case history.TextOf(item.Protocol()) == text:
			return " (its definition is above)", 0
		}
	}
	cost = s.context.Scaled(s.context.Count(text))
	if s.outputTokens() > 0 && cost > left {
		return fmt.Sprintf(" (its definition has %d tokens, which is too much here)", cost), 0
	}
	if !slices.Contains(s.active.definitions, text) {
		s.active.definitions = append(s.active.definitions, text)
	}
	return "", cost
}

// definitions returns the place of the last listed definition of each tool, by the name of the tool.
func (t *Thread) definitions() map[string]int {
	places := map[string]int{}
	for at := range t.context.Shown() {
		if t.context.Category(at) != protocol.CategoryToolDefinition {
			continue
		}
		item := t.context.Item(at)
		if name := toolspec.DefinedTool(history.TextOf(item.Protocol())); name != "" && item.Listed() {
			places[name] = at
		}
	}
	return places
}

// appendDefinitions adds the definitions that were found since the last request.
func (s *step) appendDefinitions() {
	found := s.active.definitions
	s.active.definitions = nil
	for _, text := range found {
		s.item(history.UserMessage(text))
	}
}

// serverToolUsage returns the cost of the definitions of servers' tools.
func (t *Thread) serverToolUsage() []protocol.ServerToolUsage {
	usage, definitions := []protocol.ServerToolUsage{}, t.definitions()
	for i := range t.serverTools {
		tool := &t.serverTools[i]
		at := slices.IndexFunc(usage, func(u protocol.ServerToolUsage) bool { return u.Server == tool.Server })
		if at < 0 {
			at, usage = len(usage), append(usage, protocol.ServerToolUsage{Server: tool.Server})
		}
		u, tokens := &usage[at], t.context.Scaled(t.toolTokens(&tool.Spec))
		u.Tools++
		u.Tokens += tokens
		if !t.searched.has(tool) {
			u.OfferedTools++
			u.OfferedTokens += tokens
			continue
		}
		if place, found := definitions[tool.Name]; found && t.context.InPrompt(place) {
			u.FoundTools++
			u.FoundTokens += t.context.SentTokens(place)
		}
	}
	return usage
}
