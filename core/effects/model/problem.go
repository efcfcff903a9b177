package model

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"appserver/platform/excerpt"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// messageLimit bounds what messages take over from a provider, in runes.
const messageLimit = 1000

// problem is the content of an error body.
type problem struct {
	// text is for people, or "".
	text string
	// words are the machine-readable words: code, type and status, in lower case.
	words []string
	// numbers are the codes that are numbers.
	numbers []float64
	// status is an HTTP status in the code, or 0.
	status int
	// stated is the context window that the error has as a number, or 0.
	stated int64
	// param is the member of the request that the error is about, or "".
	param string
	// wait is the delay that the error names, or 0.
	wait time.Duration
}

// textMembers are the members that hold the text of an error, best first. What is
// in them may be text, an object or a list in turn.
var textMembers = []string{"message", "detail", "error", "error_description", "details", "errors", "msg", "title",
	"reason"}

// textDepth bounds how deep text is searched for.
const textDepth = 6

// parseProblem reads the body of an error in any of the shapes that providers and
// the proxies before them use.
func parseProblem(body []byte) problem {
	var value any
	if protocol.Unmarshal(body, &value) != nil {
		return textProblem(plainText(body))
	}
	p := problem{}
	p.read(value)
	p.wait = waitOf(value, p.text, time.Now())
	p.text = excerpt.FirstRunes(p.text, messageLimit)
	return p
}

// textProblem returns an error that has a text only.
func textProblem(text string) problem {
	return problem{text: excerpt.FirstRunes(text, messageLimit), wait: waitOf(nil, text, time.Now())}
}

func (p *problem) read(value any) {
	p.text = findText(value, textDepth)
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	outer, _ := value.(map[string]any)
	inner, _ := outer["error"].(map[string]any)
	p.addWords(inner)
	p.addWords(outer)
	p.param = cmp.Or(paramOf(inner), paramOf(outer))
	if n, ok := inner["n_ctx"].(float64); ok && n > 0 && n < 1<<40 { // llama.cpp
		p.stated = int64(n)
	}
	if message, ok := outer["message"].(map[string]any); ok {
		p.param = cmp.Or(p.param, paramOf(message))
	}
	p.text = cmp.Or(p.text, strings.Join(p.words, " "))
	if metadata, ok := inner["metadata"].(map[string]any); ok {
		if raw, ok := metadata["raw"].(string); ok && raw != "" {
			p.text += ": " + raw
		}
	}
}

func (p *problem) addWords(members map[string]any) {
	for _, name := range []string{"code", "type", "status"} {
		switch v := members[name].(type) {
		case string:
			p.words = append(p.words, strings.ToLower(v))
		case float64:
			p.numbers = append(p.numbers, v)
			if p.status == 0 && v >= 400 && v < 600 {
				p.status = int(v)
			}
		}
	}
}

// paramOf returns the member of the request that an error names: its param, or the loc of the first detail of pydantic.
func paramOf(members map[string]any) string {
	if param, ok := members["param"].(string); ok {
		return param
	}
	details, _ := members["detail"].([]any)
	if len(details) == 0 {
		return ""
	}
	detail, _ := details[0].(map[string]any)
	loc, _ := detail["loc"].([]any)
	var path []string
	for _, step := range loc {
		path = append(path, fmt.Sprint(step))
	}
	return strings.Join(path, ".")
}

// has reports whether one of the problem's words contains one of these.
func (p *problem) has(parts ...string) bool {
	return slices.ContainsFunc(p.words, func(word string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(word, part) })
	})
}

// hasCode reports whether one of the codes is this number, also as text.
func (p *problem) hasCode(code int) bool {
	return slices.Contains(p.numbers, float64(code)) || slices.Contains(p.words, strconv.Itoa(code))
}

func findText(value any, depth int) string {
	if depth == 0 {
		return ""
	}
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		var texts []string
		for _, element := range v[:min(len(v), 5)] {
			if text := findText(element, depth-1); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	case map[string]any:
		for _, name := range textMembers {
			if text := findText(v[name], depth-1); text != "" {
				return text
			}
		}
	}
	return ""
}

var (
	htmlTitle = pattern.New(`(?is)<title[^>]*>(.*?)</title>`)
	htmlTag   = pattern.New(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`)
)

// plainText returns a body that is not JSON as one line; of an HTML page the title, or
// what is left without tags.
func plainText(body []byte) string {
	text := string(body)
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		if title := htmlTitle().FindStringSubmatch(text); title != nil {
			text = title[1]
		}
		text = html.UnescapeString(htmlTag().ReplaceAllString(text, " "))
	}
	return excerpt.Line(text)
}
