package model

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"appserver/platform/pattern"
)

// The words of providers for a prompt that does not fit.
var (
	tooLong = pattern.AnyOf(
		`context[ _-]?(window|length|size|limit)`,
		`\b(prompt|inputs?|request|messages?|conversation|history|query|content)\b\W+(\w+\W+){0,7}(too (long|large|many)|exceed|longer than|larger than|over the)`,
		`\bexceed\w*\W+(\w+\W+){0,7}(tokens?|length|context|prompt|input)\b`,
		`max(imum)?[ _](prompt|input|context|sequence|model|content)[ _]?(length|len|tokens?|size)`,
		`(range|length) of (the )?(input|prompt)|max_seq_len|input length (should|must)|input token count|number of (input )?tokens|tokens? limit`,
		`reduce the (length|size|number) of|too many (input |prompt )?tokens|ran out of context|context overflow`,
		`\binputs?\b.{0,40}must (be|have) (<=|less than|at most|fewer than) ?\d+`,
		`(超出|超过|过长).{0,20}(长度|上下文|token)|(输入|上下文|prompt|长度).{0,12}(超出|超过|过长)`,
	)
	// otherLimit matches limits of an answer, and of a single member such as an id.
	otherLimit = pattern.AnyOf(
		`string too long`, `(max_|completion|output)[ _]?(completion_|output_|new_)?tokens?\b`)
	ofPrompt = pattern.New(`(?i)context|prompt|input`)
)

// tooLongCodes are codes and types of errors for a prompt that does not fit, of OpenAI, llama.cpp, Anthropic, GitHub
// and GLM.
var tooLongCodes = []string{"context_length_exceeded", "exceed_context_size", "request_too_large", "prompt_tokens_exceeded",
	"context_window", "input_too_long", "prompt_too_long"}

// codeOfGLM is the code of GLM for a prompt that does not fit.
const codeOfGLM = "1261"

// tooLong reports whether the prompt did not fit. Words count only if the status is compatible.
func (p *problem) tooLong(status int) bool {
	if p.has(tooLongCodes...) || len(p.words) > 0 && p.words[0] == codeOfGLM {
		return true
	}
	switch status {
	case http.StatusRequestEntityTooLarge:
		return true
	case 0, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return tooLong().MatchString(p.text) && (!otherLimit().MatchString(p.text) ||
			ofPrompt().MatchString(p.text) && !strings.Contains(p.text, "string too long"))
	}
	return false
}

// These find the window in the words of an error, the surest first: the number after a comparison, after what bounds
// the prompt, and before it. The upper end of a range counts. A number alone in parentheses is a code.
var statedWindows = []func() *regexp.Regexp{
	pattern.New(`\d(?: tokens)? ?> ?(\d{4,8})\b`),
	pattern.AnyOf(
		`(?:max(?:imum)?|limit|allowed|available|up to)\b[^\d\[]{0,50}(?:\[\d+ ?)?(\d{3,8})(?:[^\d)]|$)`),
	pattern.AnyOf(
		`(?:context|model)[ _-]?(?:window|length|size|len)[^\d\[]{0,40}(\d{3,8})(?:[^\d)]|$)`),
	pattern.AnyOf(
		`must (?:be|have) (?:<=|less than|at most|fewer than) ?(\d{3,8})`,
		`range of input length[^\[]*\[\d+ ?(\d{3,8})`),
	pattern.New(`(?i)(\d{3,8}) maximum context`),
}

// window returns the context window that an error about a long prompt states, in tokens, or 0.
func (p *problem) window() int64 {
	if p.stated > 0 {
		return p.stated
	}
	text := strings.ReplaceAll(p.text, ",", "")
	for _, words := range statedWindows {
		if found := words().FindStringSubmatch(text); found != nil {
			n, err := strconv.ParseInt(strings.Join(found[1:], ""), 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

var (
	aboutTokens = pattern.New(`(?i)token`)
	aboutAnswer = pattern.New(`(?i)max_|completion|output`)
	tokenCounts = pattern.New(`\b\d{4,9}\b`)
)

// mostTokens returns the greatest number in a text about tokens, or 0. It is 0 for a text about the answer.
func mostTokens(text string) (most int64) {
	if !aboutTokens().MatchString(text) || aboutAnswer().MatchString(text) {
		return 0
	}
	for _, digits := range tokenCounts().FindAllString(strings.ReplaceAll(text, ",", ""), 10) {
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			most = max(most, n)
		}
	}
	return most
}
