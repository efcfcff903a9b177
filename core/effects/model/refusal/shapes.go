package refusal

import (
	"regexp"
	"strings"

	"appserver/platform/pattern"
)

var (
	idsRefused = pattern.AnyOf(
		`(tool[ _]call[ _]id|tool_use(\.|_)id|tool_calls\[\d+\]\.id).*(length|pattern|too long|must be a-z)`)
	echoRefused = pattern.New(`\b(reasoning|reasoning_content|reasoning_details|extra_content|thought_?signature|signature)\b`)
	echoMissed  = pattern.New(`(?i)missing|passed back|is required`)
)

// shapes are the words with which templates and providers demand a shape, and the shape.
var shapes = []struct {
	words  func() *regexp.Regexp
	demand func(*Shape)
	notice string
}{
	{pattern.AnyOf(
		`unmarshal array into .{0,60}output`, `\boutput.{0,60}(must be|should be|expected) (a |an )?(valid )?string`,
		`sequence, expected a string.{0,60}\boutput`),
		func(s *Shape) { s.TextOutputs = true }, "The provider takes only texts as outputs of tools. The server sends their images in a message behind them."},
	{pattern.AnyOf(
		`(developer|system)( role| message\w*| instruction\w*|_instruction)? ?((is|are) )?not (supported|enabled|allowed|accepted)`,
		`(not|n't) support( \w+){0,2} (system|developer)`),
		func(s *Shape) { s.NoSystem = true }, "The model takes no system messages. The server sends them in the role of the user."},
	{pattern.AnyOf(
		`system (message|prompt|role)\w*( \w+){0,4} (first|begin|start|top)`,
		`unexpected role .?(system|developer)`, `only (one|a single|the first) system`,
		`(multiple|more than one|second) system message`),
		func(s *Shape) { s.SystemFirst = true }, "The model takes a system message at the top only. The server sends later ones in the role of the user."},
	{pattern.AnyOf(
		`must alternate`, `alternat\w+ .{0,40}(user|role)`, `roles? .{0,40}alternat`,
		`unexpected role`, `(consecutive|successive) .{0,20}(user|assistant|messages|roles?)`,
		`first message must be .{0,20}user`, `expected .{0,20}role`),
		func(s *Shape) { s.Alternating = true }, "The model demands that the user and the assistant take turns. The server joins messages, or puts a short text between them."},
	{pattern.AnyOf(
		`single tool[- _]?calls?`, `(one|1) tool[- _]?call (at|per)`,
		`(parallel|multiple) tool[- _]?calls? .{0,40}(not|n't)`,
		`only supports? (one|a single) (tool|function)`),
		func(s *Shape) { s.SingleCalls = true }, "The model takes one call in a message. The server sends calls that were made together one after the other."},
	{pattern.AnyOf(
		`\bcontent.{0,60}(string|null|none|required|missing|empty)`,
		`(valid|a) string.{0,40}\bcontent`, `(null|none).{0,40}\bcontent`, `NoneType`),
		func(s *Shape) { s.EmptyContent = true }, "The model demands a content in each message. The server sends an empty text with calls."},
}

// learnShape changes the form of messages. Words of a template that no row knows demand all forms at once.
func learnShape(r *Refusal, q *Request, d *Demands) string {
	if !r.rejects() {
		return ""
	}
	for _, s := range shapes {
		after := d.Shape
		s.demand(&after)
		if after != d.Shape && q.allows(d.Shape, after) && r.says(s.words) {
			d.Shape = after
			return s.notice
		}
	}
	if strict := (Shape{Alternating: true, SystemFirst: true, NoSystem: d.Shape.NoSystem, SingleCalls: true,
		EmptyContent: true, TextOutputs: d.Shape.TextOutputs}); r.OfTemplate() && d.Shape != strict {
		d.Shape = strict
		return "The chat template of the model failed. The server sends messages in the simplest form."
	}
	return ""
}

// allows reports whether a change of the shape would change the request. Refusals of a null content and of images can
// have the same words, so the request must have a null content. The Responses API has no null content, and no calls
// within a message.
func (q *Request) allows(before, after Shape) bool {
	switch {
	case after.EmptyContent != before.EmptyContent:
		return q.Chat && q.NullContent
	case after.TextOutputs != before.TextOutputs:
		return q.OutputParts
	case after.SingleCalls != before.SingleCalls:
		return q.Chat
	}
	return true
}

// learnIDs shortens ids of calls.
func learnIDs(r *Refusal, q *Request, d *Demands) string {
	if !q.Chat || d.ShortIDs || !r.rejects() || !r.says(idsRefused) {
		return ""
	}
	d.ShortIDs = true
	return "The provider takes only ids of calls with nine letters and digits. The server replaces other ids."
}

// limitRefused matches a refusal of the older name of the limit of output tokens that recommends the newer one.
// OpenAI's reasoning models demand that.
var limitRefused = pattern.New(`\bmax_tokens\b.*\bmax_completion_tokens\b`)

// learnLimit changes the name of the limit of output tokens.
func learnLimit(r *Refusal, q *Request, d *Demands) string {
	if !q.Chat || d.CompletionLimit || !r.rejects() || !r.says(limitRefused) {
		return ""
	}
	d.CompletionLimit = true
	return "The model knows the limit of output tokens as max_completion_tokens."
}

// These match rejections of an item of raw reasoning, and those of calls without reasoning.
var (
	rawRefused = pattern.AnyOf(
		`input(\[|\.)\d+.*(reasoning|content)`, `(reasoning|encrypted_content).*input(\[|\.)\d+`)
	reasoningMissed = pattern.New(`(?i)reasoning.*(missing|passed back|is required)|missing.*reasoning`)
)

// learnRaw changes whether raw reasoning goes back by the Responses API.
func learnRaw(r *Refusal, q *Request, d *Demands) string {
	if q.Chat || d.NoRaw || !r.rejects() {
		return ""
	}
	switch {
	case !d.WantsRaw && r.says(reasoningMissed):
		d.WantsRaw = true
		return "The model demands reasoning before each call."
	case (d.WantsRaw || q.RawReasoning) && (r.says(rawRefused) || matches(rawRefused, r.Param) || r.says(unfollowed)):
		d.NoRaw, d.WantsRaw = true, false
		return "The model does not take back raw reasoning."
	}
	return ""
}

// learnEcho changes what of earlier answers goes back to the model.
func learnEcho(r *Refusal, q *Request, d *Demands) string {
	if !q.Chat || d.Echo != EchoAsCame || !r.rejects() || !r.says(echoRefused) && !matches(echoRefused, r.Param) {
		return ""
	}
	missed := r.says(echoMissed)
	switch {
	case missed && strings.Contains(r.Text, "reasoning_content"):
		d.Echo = EchoReasoning
		return "The model demands the reasoning of all earlier answers."
	case missed && strings.Contains(r.Text, "thought_signature"):
		d.Echo = EchoSignature
		return "The model demands a signature for all earlier calls."
	case q.Echoed:
		d.Echo = EchoNothing
		return "The model does not take back the reasoning of earlier answers."
	}
	return ""
}
