package responses

import (
	_ "embed"
	"encoding/json"
	"slices"

	"appserver/core"
	"appserver/core/effects/model/refusal"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// tool is a function, a custom tool whose input is a text of a grammar, or the provider's search of the
// web, which has no name.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Format      *grammar        `json:"format,omitempty"`

	External *bool           `json:"external_web_access,omitempty"`
	Indexed  bool            `json:"indexed_web_access,omitempty"`
	Filters  json.RawMessage `json:"filters,omitempty"`
	Location json.RawMessage `json:"user_location,omitempty"`
	Size     string          `json:"search_context_size,omitempty"`
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

// customType is the type of tools whose input is a text.
const customType = "custom"

const noParameters = `{"type":"object","properties":{}}`

// tools returns the tools of a prompt in the form of the API.
func tools(p *core.Prompt, limits limits) []tool {
	list := functions(p, limits)
	if w := p.WebSearch; w != nil {
		list = append(list, searchTool(w))
	}
	return list
}

// searchTool returns the definition of the search tool, with the members of its options beside its
// own.
func searchTool(w *core.WebSearchTool) tool {
	var t tool
	if w.Options != "" && protocol.Unmarshal([]byte(w.Options), &t) != nil {
		t = tool{}
	}
	t.Type, t.External, t.Indexed = "web_search", new(w.External), w.Indexed
	return t
}

// functions returns the tools that this server runs.
func functions(p *core.Prompt, limits limits) []tool {
	list := make([]tool, 0, len(p.Tools))
	for _, t := range p.Tools {
		if t.Name == patchName && !limits.plain {
			list = append(list, tool{
				Type: customType, Name: t.Name, Description: t.Description,
				Format: &grammar{Type: "grammar", Syntax: "lark", Definition: patchGrammar},
			})
			continue
		}
		parameters := t.Parameters
		if !isSet(parameters) {
			parameters = json.RawMessage(noParameters)
		}
		function := tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters}
		if !limits.noStrict {
			function.Strict = new(false)
		}
		list = append(list, function)
	}
	return list
}

// customModels are the models that are known to take custom tools: OpenAI's from GPT-5 on.
var customModels = pattern.New(`(^|/)(gpt-([5-9]|\d\d)|codex)`)

// limits are the features that a model does not support. Plain models take functions only, and those with noRaw
// take no raw reasoning back. A model that wantsReasoning refuses calls without reasoning. An alternating one
// refuses neighbouring messages of the user, and one with onlyUsers messages of the system. With noStrict,
// functions lack the member strict.
type limits struct{ plain, noRaw, wantsReasoning, alternating, onlyUsers, noStrict, textOutputs bool }

// limitsOf returns the limits of a model. Unknown models take functions only.
func limitsOf(name string, d *refusal.Demands) limits {
	return limits{plain: d.Plain || !customModels().MatchString(name), noRaw: d.NoRaw, wantsReasoning: d.WantsRaw,
		alternating: d.Shape.Alternating, onlyUsers: d.Shape.SystemFirst || d.Shape.NoSystem,
		noStrict: d.NoStrict, textOutputs: d.Shape.TextOutputs}
}

// hasRawReasoning reports whether a request for the prompt has raw reasoning.
func hasRawReasoning(p *core.Prompt) bool {
	return slices.ContainsFunc(p.Items, func(item protocol.ResponseItem) bool {
		r, ok := item.ResponseItemVariant.(*protocol.Reasoning)
		return ok && inputReasoning(r, limits{}) != nil && r.EncryptedContent == nil
	})
}
