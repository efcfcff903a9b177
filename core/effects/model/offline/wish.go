package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/effects/model/chat"
	"appserver/platform/excerpt"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// exchangeText is the last user message of a prompt, and the outputs after it. Skills, definitions of tools and results
// of agents are no messages of the user.
type exchangeText struct {
	text    string
	outputs []string
}

func lastExchange(p *core.Prompt) exchangeText {
	var exchange exchangeText
	for _, item := range p.Items {
		switch i := item.ResponseItemVariant.(type) {
		case *protocol.Message:
			text := protocol.JoinText(i.Content)
			if i.Role == protocol.RoleUser && !strings.HasPrefix(text, core.SkillTag) &&
				!strings.HasPrefix(text, protocol.ToolDefinitionTag) && !strings.HasPrefix(text, protocol.AgentNoticeTag) {
				exchange = exchangeText{text: text}
			}
		case *protocol.FunctionCallOutput:
			exchange.outputs = append(exchange.outputs, i.Output.String())
		case *protocol.CustomToolCallOutput:
			exchange.outputs = append(exchange.outputs, i.Output.String())
		}
	}
	return exchange
}

// defaultStep returns the answer that no script gives.
func defaultStep(p *core.Prompt, exchange exchangeText) *Step {
	if p.Summarises {
		return sumUp(exchange.text)
	}
	if len(exchange.outputs) > 0 {
		return &Step{Text: report(exchange.outputs)}
	}
	s := &Step{}
	if thinking().MatchString(exchange.text) {
		s.Reasoning = "Thinking about: " + quote(exchange.text)
	}
	if command := wishedCommand(exchange.text); command != "" {
		if call, ok := shellCall(p.Tools, command); ok {
			s.ToolCalls = []StepCall{call}
			return s
		}
	}
	s.Text = fmt.Sprintf("Hello! You said: %q. This request holds %d messages.", quote(exchange.text), len(chat.Messages(p)))
	return s
}

func report(outputs []string) string {
	all := strings.Join(outputs, "\n")
	if strings.TrimSpace(all) == "" {
		return "Done. The command printed nothing."
	}
	return "Done. The command printed:\n" + all
}

// quoteLimit bounds what of the user's text is quoted, in runes.
const quoteLimit = 1000

func quote(text string) string { return excerpt.FirstRunes(strings.TrimSpace(text), quoteLimit) }

var (
	thinking = pattern.New(`(?i)\bthink`)
	// wishes are the ways to ask for a command, best first; the first group of each
	// is the command.
	wishes = []func() *regexp.Regexp{
		pattern.New("(?s)```(?:sh|bash|shell)[ \t\r]*\n(.*?)```"),
		pattern.New("(?is)\\brun\\b[^`]*`([^`]+)`"),
		pattern.New(`(?i)\brun:[ \t]*([^\r\n]+)`),
		pattern.New(`(?i)^\s*(?:\$|run)[ \t]+([^\r\n]+)`),
	}
)

// wishedCommand returns the command that a message asks to run, or "".
func wishedCommand(text string) string {
	for _, wish := range wishes {
		if found := wish().FindStringSubmatch(text); found != nil {
			if command := strings.TrimSpace(found[1]); command != "" {
				return command
			}
		}
	}
	return ""
}

// shellTools are the names of tools that run commands.
var shellTools = []string{"shell", "shell_command", "exec_command"}

// shellCall calls the first shell tool that is offered, with the parameters that
// its schema has.
func shellCall(tools []core.ToolSpec, command string) (StepCall, bool) {
	for _, name := range shellTools {
		i := slices.IndexFunc(tools, func(t core.ToolSpec) bool { return t.Name == name })
		if i >= 0 {
			return StepCall{Name: name, Arguments: shellArguments(tools[i].Parameters, command)}, true
		}
	}
	return StepCall{}, false
}

func shellArguments(schema json.RawMessage, command string) CallArguments {
	var parameters struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = protocol.Unmarshal(schema, &parameters)
	if _, ok := parameters.Properties["cmd"]; ok {
		return callArguments("cmd", command)
	}
	if parameters.Properties["command"].Type == "array" {
		return callArguments("command", []string{"bash", "-lc", command})
	}
	return callArguments("command", command)
}

// callArguments returns an object of one member.
func callArguments(name string, value any) CallArguments {
	b, err := protocol.Marshal(map[string]any{name: value})
	if err != nil {
		return "{}"
	}
	return CallArguments(b)
}

// maxDeltas bounds the deltas that a text comes in.
const maxDeltas = 64

// splitDeltas cuts text after spaces and line ends into at most about maxDeltas
// pieces.
func splitDeltas(text string) []string {
	least := len(text)/maxDeltas + 1
	var deltas []string
	start := 0
	for i := range len(text) {
		if (text[i] == ' ' || text[i] == '\n') && i+1-start >= least {
			deltas = append(deltas, text[start:i+1])
			start = i + 1
		}
	}
	if start < len(text) {
		deltas = append(deltas, text[start:])
	}
	return deltas
}
