package responses

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"appserver/core"
	"appserver/core/model"
)

// tool is a function, or a custom tool whose input is a text of a grammar.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Format      *grammar        `json:"format,omitempty"`
}

// grammar is a format of custom tools.
type grammar struct {
	Type       string `json:"type"`
	Syntax     string `json:"syntax"`
	Definition string `json:"definition"`
}

// patchGrammar is the form of a patch, in Lark's notation.
//
//go:embed patch.lark
var patchGrammar string

// patchName is the tool that custom models are offered with a grammar.
const patchName = "apply_patch"

const noParameters = `{"type":"object","properties":{}}`

// tools are those of a prompt as the API takes them.
func tools(p *core.Prompt, plain bool) []tool {
	list := make([]tool, 0, len(p.Tools))
	for _, t := range p.Tools {
		if t.Name == patchName && !plain {
			list = append(list, tool{
				Type: "custom", Name: t.Name, Description: t.Description,
				Format: &grammar{Type: "grammar", Syntax: "lark", Definition: patchGrammar},
			})
			continue
		}
		parameters := t.Parameters
		if !isSet(parameters) {
			parameters = json.RawMessage(noParameters)
		}
		list = append(list, tool{Type: "function", Name: t.Name, Description: t.Description, Strict: new(false), Parameters: parameters})
	}
	return list
}

// customModels are the models that are known to take custom tools: OpenAI's from GPT-5 on.
var customModels = regexp.MustCompile(`(^|/)(gpt-([5-9]|\d\d)|codex)`)

// customRefused finds refusals of custom tools.
var customRefused = regexp.MustCompile(`(?i)custom|grammar|unknown tool type|tools\[\d+\]\.type`)

// plainModels are those that take functions only: all but the known ones, and the known ones of a
// provider that refused a custom tool.
type plainModels struct {
	mu      sync.Mutex
	refused map[string]bool
}

func (m *plainModels) has(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused[name] || !customModels.MatchString(name)
}

// learn takes note of a refusal of custom tools. It reports whether the request had one.
func (m *plainModels) learn(p *core.Prompt, err error) bool {
	why, refused := model.Refusal(err)
	if !refused || m.has(p.Model) || !customRefused.MatchString(strings.ToLower(why)) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil {
		m.refused = map[string]bool{}
	}
	m.refused[p.Model] = true
	return true
}
