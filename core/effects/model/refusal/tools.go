package refusal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"appserver/platform/pattern"
)

var (
	noTools = pattern.AnyOf(
		`(not|n't) support( \w+){0,2} (tools?|function)( call\w*| use)?\b`,
		`(tools?|tool use|(tool|function)[- ]call\w*)( \w+){0,2} (is|are) (not (supported|enabled|available)|unsupported)`)
	// functionPlace is the index of a tool in the words of Google, which has all functions in its first tool. toolPlace is
	// that in the words of OpenAI and Anthropic.
	// The path must end at a member that differs between tools. Members such as strict are the same for all.
	functionPlace = pattern.New(`(?i)\bfunction_?declarations(?:\[(\d{1,4})\]|[./](\d{1,4})\b)` + ownMember)
	toolPlace     = pattern.New(`(?i)\btools(?:\[(\d{1,4})\]|[./](\d{1,4})\b)` + ownMember)
	// aboutSchemas are the words near the name of a tool that is refused.
	aboutSchemas = pattern.AnyOf(
		`schema`, `parameters`, `declaration`, `invalid (function|tool)`, `definition`,
		`input_schema`, `tools\[`)
	// aboutCalls are refusals of calls, and of the model's own answer.
	aboutCalls = pattern.AnyOf(
		`tool_use_failed`, `failed_generation`, `attempted to call`, `call_id`, `tool_use`,
		`tool_result`, `arguments`, `call validation`, `did not match`, `tool_calls`, `model output`,
		`generated`)

	// unknownMember matches refusals of a member that all tools have.
	unknownMember = pattern.AnyOf(
		`unknown (name|field|parameter|argument|member)`, `unrecogni[sz]ed`, `extra (inputs|fields)`,
		`cannot find field`)

	customTools = pattern.New(`(?i)custom|grammar|unknown tool type|tools\[\d+\]\.type`)
	searchTool  = pattern.AnyOf(
		`web_?search`, `web_access`, `search_context_size`, `user_location`, `allowed_domains`,
		`unknown tool type`, `tools\[\d+\]\.type`)
)

// ownMember is the end of a path to a tool, or to its name, description or schema.
const ownMember = `(?:[./](?:function|custom))?(?:[./](?:name|description|parameters|input_schema|schema)\b|[^./\[\w]|$)`

// strictRefused matches refusals of the member strict, which all functions have.
var strictRefused = pattern.New(`(?i)\btools\S*[./]strict\b|["'\x60]strict["'\x60].{0,40}tools|unknown name .?strict`)

// learnStrict leaves the member strict out of all functions.
func learnStrict(r *Refusal, q *Request, d *Demands) string {
	if q.Chat || d.NoStrict || !r.rejects() || !r.says(strictRefused) && !matches(strictRefused, r.Param) {
		return ""
	}
	d.NoStrict = true
	return "The provider does not know the member strict of functions."
}

// learnSearch leaves out the search of the web. If a refusal of a type names no tool, the search is left out first.
func learnSearch(r *Refusal, q *Request, d *Demands) string {
	if !q.Search || d.Offline || !r.Nameless && !r.rejects() {
		return ""
	}
	if !r.Nameless && !r.says(searchTool) && !matches(searchTool, r.Param) {
		return ""
	}
	d.Offline = true
	return "The provider does not offer its search of the web to the model."
}

// learnCustom offers functions only.
func learnCustom(r *Refusal, q *Request, d *Demands) string {
	if !q.Custom || d.Plain || !r.rejects() || !r.says(customTools) && !matches(customTools, r.Param) {
		return ""
	}
	d.Plain = true
	return "The model takes no custom tools. apply_patch is offered as a function."
}

// learnNoTools leaves out all tools.
func learnNoTools(r *Refusal, q *Request, d *Demands) string {
	if len(q.Tools) == 0 || d.NoTools || !r.rejects() || !r.says(noTools) || r.names("parallel_tool_calls") {
		return ""
	}
	d.NoTools = true
	return "The model takes no tools: it can neither run commands nor change files. Choose another model for that."
}

// learnTool leaves out the tool that a refusal names, or whose place it names.
func learnTool(r *Refusal, q *Request, d *Demands) string {
	ofCall := r.says(aboutCalls) || r.hasWord("tool_use", "tool_call", "failed_generation")
	if !r.rejects() || ofCall || r.says(unknownMember) {
		return ""
	}
	name := q.namedTool(r)
	if name == "" || d.Tools[name] {
		return ""
	}
	if d.Tools == nil {
		d.Tools = map[string]bool{}
	}
	d.Tools[name] = true
	return fmt.Sprintf("The provider refused the tool %s, so the model does not have it.", name)
}

// namedTool returns the tool that a refusal is about, or "".
func (q *Request) namedTool(r *Refusal) string {
	name := ""
	for _, tool := range q.Tools {
		if len(tool) > len(name) && isNamedNear(r.Text, tool, aboutSchemas()) {
			name = tool
		}
	}
	if name != "" {
		return name
	}
	for _, text := range []string{r.Param, r.Text} {
		place := functionPlace().FindStringSubmatch(text)
		if place == nil {
			place = toolPlace().FindStringSubmatch(text)
		}
		if place != nil {
			i, err := strconv.Atoi(place[1] + place[2])
			if err == nil && i < len(q.Tools) {
				return q.Tools[i]
			}
		}
	}
	return ""
}

// isNamedNear reports whether a text has a name as a whole word, with one of the words near it.
func isNamedNear(text, name string, words *regexp.Regexp) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		begin := at + i
		at = begin + len(name)
		if !isWordByte(text, begin-1) && !isWordByte(text, at) &&
			words.MatchString(text[max(0, begin-nearby):min(len(text), at+nearby)]) {
			return true
		}
	}
}

func isWordByte(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func matches(words func() *regexp.Regexp, text string) bool { return words().MatchString(text) }
