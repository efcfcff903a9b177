package toolspec

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"appserver/protocol"
)

// The tools by which a model works with other agents.
const (
	SpawnAgent  = "spawn_agent"
	SendInput   = "send_input"
	WaitAgent   = "wait_agent"
	CloseAgent  = "close_agent"
	ResumeAgent = "resume_agent"
)

// The time that a call waits for agents.
const (
	defaultAgentWait = 30 * time.Second
	minAgentWait     = 10 * time.Second
	maxAgentWait     = time.Hour
)

// IsAgentTool reports whether a tool is one of these, by its name with or without the namespace.
func IsAgentTool(name string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(name, protocol.AgentsNamespace), ".") {
	case SpawnAgent, SendInput, WaitAgent, CloseAgent, ResumeAgent:
		return true
	}
	return false
}

// AgentCall is a decoded call of one of these tools.
type AgentCall struct {
	// Tool is the name of the tool.
	Tool string
	// Targets are the ids of other agents: one, or those that a call waits for.
	Targets []string
	// Input is the message for the other agent.
	Input []protocol.UserInput
	// Role is the kind of a new agent, or "". Model and Effort override those of the caller, or are "".
	Role, Model, Effort string
	// Fork is set if a new agent begins with the caller's context. Chosen selects parts of it instead, or is nil.
	Fork   bool
	Chosen *ChosenItems
	// Interrupt is set if the message ends the turn of the other agent.
	Interrupt bool
	// Wait is the longest time to wait.
	Wait time.Duration
	// ByPath is set if agents have paths. Name is then that of a new agent, Turns the number of its parent's turns that
	// it begins with, or AllTurns, and Prefix the path above the agents to list, or "".
	ByPath       bool
	Name, Prefix string
	Turns        int
}

// ChosenItems selects items of a context: those with the ids, those of the categories, and those of the last turns.
type ChosenItems struct {
	IDs, Categories []string
	LastTurns       int64
}

// Text returns the message as a text for people.
func (c *AgentCall) Text() string {
	var texts []string
	for _, in := range c.Input {
		if text, ok := in.UserInputVariant.(*protocol.TextInput); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

const (
	agentTarget  = `"target":{"type":"string"}`
	agentMessage = `"message":{"type":"string"}`
)

// AgentSpecs returns the tools, with the roles that a new agent can have: a line NAME: DESCRIPTION for each.
func AgentSpecs(roles string) []Spec {
	return []Spec{spawnSpec(roles), sendInputSpec, waitAgentSpec, closeAgentSpec, resumeAgentSpec}
}

func spawnSpec(roles string) Spec {
	role := ""
	if roles != "" {
		var names []string
		for line := range strings.Lines(roles) {
			name, _, _ := strings.Cut(line, ":")
			names = append(names, name)
		}
		enum, _ := json.Marshal(names)                              // texts always encode
		text, _ := json.Marshal("The kind of the agent:\n" + roles) // texts always encode
		role = fmt.Sprintf(`,"agent_type":{"type":"string","enum":%s,"description":%s}`, enum, text)
	}
	return Spec{
		Name: SpawnAgent,
		Description: "Starts an agent in the same folder and returns its id at once. Its last message comes to you when it " +
			"ends. Use it only if the user or the instructions of the project ask for several agents or for parallel work. " +
			"Give it a complete task, and files that no other agent writes.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"message":{"type":"string","description":"The task, with all that it must know."},` +
			`"fork_context":{"type":"boolean","description":"It begins with this conversation."},` +
			`"context_items":{"type":"object","description":"It begins with these parts of this conversation.",` +
			`"properties":{"ids":{"type":"array","items":{"type":"string"}},` +
			`"categories":{"type":"array","items":{"type":"string","enum":["userMessage","assistantMessage","toolOutput",` +
			`"summary"]}},"last_turns":{"type":"integer"}},"additionalProperties":false},` +
			`"model":{"type":"string","description":"Only if the user names one."},` +
			`"reasoning_effort":{"type":"string"}` + role + `},"required":["message"],"additionalProperties":false}`),
	}
}

var sendInputSpec = Spec{
	Name:        SendInput,
	Description: "Gives an agent a message, which begins a turn or joins it. With interrupt, it ends that turn first.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` + agentTarget + `,` + agentMessage +
		`,"interrupt":{"type":"boolean"}},"required":["target","message"],"additionalProperties":false}`),
}

var waitAgentSpec = Spec{
	Name:        WaitAgent,
	Description: "Waits until one of the agents is done, and returns its last message. Results also come without waiting.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"targets":{"type":"array","items":{"type":"string"}},` +
		`"timeout_ms":{"type":"integer","description":"At least 10000."}},` +
		`"required":["targets"],"additionalProperties":false}`),
}

var closeAgentSpec = Spec{
	Name:        CloseAgent,
	Description: "Ends an agent and those that it started, which makes room for others.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` + agentTarget +
		`},"required":["target"],"additionalProperties":false}`),
}

var resumeAgentSpec = Spec{
	Name:        ResumeAgent,
	Description: "Opens a closed agent again.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],` +
		`"additionalProperties":false}`),
}

// ParseAgentCall decodes the arguments of one of the tools.
func ParseAgentCall(tool, arguments string) (AgentCall, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return AgentCall{}, err
	}
	c := AgentCall{Tool: tool}
	switch tool {
	case SpawnAgent:
		c.Input, c.Fork, c.Chosen = a.agentInput(), a.isTrue("fork_context"), a.chosenItems()
		c.Role, c.Model, c.Effort = a.text("agent_type"), a.text("model"), a.text("reasoning_effort")
	case SendInput:
		c.Targets, c.Input, c.Interrupt = []string{a.text("target")}, a.agentInput(), a.isTrue("interrupt")
	case WaitAgent:
		c.Targets, c.Wait = a.texts("targets"), a.agentWait()
	case CloseAgent:
		c.Targets = []string{a.text("target")}
	case ResumeAgent:
		c.Targets = []string{a.text("id")}
	}
	return c, a.err
}

// Problem returns why a call cannot be run, in the words of the reference implementation, or "".
func (c *AgentCall) Problem() string {
	switch {
	case c.ByPath:
		return c.peerProblem()
	case c.Tool == WaitAgent && len(c.Targets) == 0:
		return "agent ids must be non-empty"
	case c.Fork && c.Chosen != nil:
		return "fork_context and context_items exclude each other: use one of them"
	case (c.Tool == SpawnAgent || c.Tool == SendInput) && len(c.Input) == 0:
		return "Empty message can't be sent to an agent"
	}
	return ""
}

// agentInput returns the message of a call: its text, or its items.
func (m *members) agentInput() (input []protocol.UserInput) {
	if text := m.text("message"); strings.TrimSpace(text) != "" {
		return []protocol.UserInput{{UserInputVariant: textInput(text)}}
	}
	for _, item := range m.objects("items") {
		if variant := item.agentInputItem(); variant != nil {
			input = append(input, protocol.UserInput{UserInputVariant: variant})
		}
	}
	return input
}

func (m *members) agentInputItem() protocol.UserInputVariant {
	switch kind := m.text("type"); kind {
	case "text":
		return textInput(m.text("text"))
	case "image":
		return &protocol.ImageInput{URL: m.text("image_url")}
	case "local_image":
		return &protocol.LocalImageInput{Path: m.text("path")}
	case "skill":
		return &protocol.SkillInput{Name: m.text("name"), Path: m.text("path")}
	case "mention":
		return &protocol.MentionInput{Name: m.text("name"), Path: m.text("path")}
	default:
		m.fail("type", "text, image, local_image, skill or mention", m.values["type"])
		return nil
	}
}

func textInput(text string) *protocol.TextInput {
	return &protocol.TextInput{Text: text, TextElements: []protocol.TextElement{}}
}

// chosenItems returns the selection of a call, or nil.
func (m *members) chosenItems() *ChosenItems {
	value := m.raw("context_items")
	if value == nil {
		return nil
	}
	inner := members{path: "context_items."}
	if protocol.Unmarshal([]byte(unquoted(value)), &inner.values) != nil || inner.values == nil {
		m.fail("context_items", "an object", value)
		return nil
	}
	chosen := &ChosenItems{IDs: inner.texts("ids"), Categories: inner.texts("categories")}
	if turns := inner.integer("last_turns"); turns != nil {
		chosen.LastTurns = *turns
	}
	if m.err == nil {
		m.err = inner.err
	}
	return chosen
}

func (m *members) isTrue(name string) bool {
	value := m.boolean(name)
	return value != nil && *value
}

// agentWait returns the time to wait, within its bounds.
func (m *members) agentWait() time.Duration {
	given := m.integer("timeout_ms")
	if given == nil {
		return defaultAgentWait
	}
	longest := maxAgentWait.Milliseconds()
	return min(max(time.Duration(min(*given, longest))*time.Millisecond, minAgentWait), maxAgentWait)
}
