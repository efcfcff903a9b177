package responses

import (
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"appserver/core"
	"appserver/core/model"
	"appserver/core/pattern"
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

const noParameters = `{"type":"object","properties":{}}`

// tools returns the tools of a prompt in the form of the API.
func tools(p *core.Prompt, limits limits) []tool {
	list := functions(p, limits.plain)
	if w := p.WebSearch; w != nil && !limits.offline {
		list = append(list, searchTool(w))
	}
	return list
}

// searchTool has the members of the tool's options beside its own.
func searchTool(w *core.WebSearchTool) tool {
	var t tool
	if w.Options != "" && protocol.Unmarshal([]byte(w.Options), &t) != nil {
		t = tool{}
	}
	t.Type, t.External, t.Indexed = "web_search", new(w.External), w.Indexed
	return t
}

// functions are the tools that this server runs.
func functions(p *core.Prompt, plain bool) []tool {
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
		list = append(list, tool{Type: "function", Name: t.Name, Description: t.Description, Strict: new(false),
			Parameters: parameters})
	}
	return list
}

// customModels are the models that are known to take custom tools: OpenAI's from GPT-5 on.
var customModels = pattern.New(`(^|/)(gpt-([5-9]|\d\d)|codex)`)

// customRefused matches rejections of custom tools, searchRefused those of the search of the web.
var (
	customRefused = pattern.New(`(?i)custom|grammar|unknown tool type|tools\[\d+\]\.type`)
	searchRefused = pattern.New(`(?i)web_?search|web_access|search_context_size|user_location|allowed_domains|unknown tool type|tools\[\d+\]\.type`)
)

// limits are what a model does not support. Plain models take functions only, offline ones have no search of the web,
// and those with noRaw take no raw reasoning back. A model that wantsReasoning refuses calls without reasoning.
type limits struct{ plain, offline, noRaw, wantsReasoning bool }

// rawRefused matches rejections of an item of raw reasoning, reasoningMissed those of calls without reasoning.
var (
	rawRefused      = pattern.New(`(?i)input(\[|\.)\d+.*(reasoning|content)|(reasoning|encrypted_content).*input(\[|\.)\d+`)
	reasoningMissed = pattern.New(`(?i)reasoning.*(missing|passed back|is required)|missing.*reasoning`)
)

// hasRawReasoning reports whether a request for the prompt has raw reasoning.
func hasRawReasoning(p *core.Prompt) bool {
	return slices.ContainsFunc(p.Items, func(item protocol.ResponseItem) bool {
		r, ok := item.ResponseItemVariant.(*protocol.Reasoning)
		return ok && inputReasoning(r, limits{}) != nil && r.EncryptedContent == nil
	})
}

// knownLimits are the limits of a provider's models: the learned rejections and, for unknown models,
// custom tools.
type knownLimits struct {
	mu      sync.Mutex
	refused map[string]limits
}

func (k *knownLimits) of(name string) limits {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.refused[name]
	l.plain = l.plain || !customModels().MatchString(name)
	return l
}

// learn takes note of a refused tool. It reports whether the request had one. If the refusal names no
// tool, the search is left out first.
func (k *knownLimits) learn(p *core.Prompt, err error) bool {
	why, refused := model.Refusal(err)
	l := k.of(p.Model)
	switch {
	case errors.Is(err, errNameless):
		l.offline = true
	case !refused:
		return false
	case p.WebSearch != nil && !l.offline && searchRefused().MatchString(why):
		l.offline = true
	case !l.plain && customRefused().MatchString(why):
		l.plain = true
	default:
		return false
	}
	k.set(p.Model, l)
	return true
}

// learnReasoning takes note of refused raw reasoning, or of calls that were refused without reasoning. It reports
// whether the next request differs.
func (k *knownLimits) learnReasoning(p *core.Prompt, err error) bool {
	why, refused := model.Refusal(err)
	l := k.of(p.Model)
	switch {
	case !refused || l.noRaw:
		return false
	case !l.wantsReasoning && reasoningMissed().MatchString(why):
		l.wantsReasoning = true
	case rawRefused().MatchString(why) && (l.wantsReasoning || hasRawReasoning(p)):
		l.noRaw, l.wantsReasoning = true, false
	default:
		return false
	}
	k.set(p.Model, l)
	return true
}

func (k *knownLimits) set(name string, l limits) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused == nil {
		k.refused = map[string]limits{}
	}
	k.refused[name] = l
}
