package chat

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"appserver/core"
	"appserver/core/model"
	"appserver/core/pattern"
	"appserver/protocol"
)

// dialect is the form of messages that a model demands. It is learned from rejections, because most
// models are reached through gateways, and the names of providers mean little.
type dialect struct {
	echo echoing
	// shortIDs is set where ids of calls are nine letters and digits: Mistral takes no
	// others, and everybody takes these.
	shortIDs bool
	// completionLimit is set if the limit of output tokens has its newer name, which OpenAI's reasoning models demand.
	completionLimit bool
}

// The names of the limit of output tokens. All providers know the first one.
const (
	memberLimit           = "max_tokens"
	memberCompletionLimit = "max_completion_tokens"
)

// limit names the limit of output tokens.
func (d dialect) limit() string {
	if d.completionLimit {
		return memberCompletionLimit
	}
	return memberLimit
}

// echoing selects the parts of earlier answers that go back to a model.
type echoing int

const (
	// echoAsCame sends back what came, by the member that it came by.
	echoAsCame echoing = iota
	// echoNothing is for models that reject members of their own answers.
	echoNothing
	// echoReasoning puts reasoning_content on every message of the assistant: DeepSeek
	// and Moonshot refuse histories in which other models did not reason.
	echoReasoning
	// echoSignature puts a signature on calls that have none, with which Google's models
	// refuse histories of other models.
	echoSignature
)

// noReasoning replaces missing reasoning. Moonshot treats empty text as missing.
const noReasoning = " "

// noSignature is the documented value of Google for calls of other models.
const noSignature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// dialects are the dialects of a provider's models, by their names.
type dialects struct {
	mu      sync.Mutex
	byModel map[string]dialect
}

func (d *dialects) of(model string) dialect {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byModel[model]
}

// learn takes note of what the refusal of a prompt demands. It is true where the next
// request will be another one; each model is learned from a few times at most.
func (d *dialects) learn(p *core.Prompt, err error) bool {
	why, refused := model.Refusal(err)
	if !refused {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.byModel[p.Model]
	learned := known.after(why, echoes(Messages(p)))
	if learned == known {
		return false
	}
	if d.byModel == nil {
		d.byModel = map[string]dialect{}
	}
	d.byModel[p.Model] = learned
	return true
}

var (
	idsRefused  = pattern.New(`(?i)(tool[ _]call[ _]id|tool_use(\.|_)id|tool_calls\[\d+\]\.id).*(length|pattern|too long|must be a-z)`)
	echoRefused = pattern.New(`\b(reasoning|reasoning_content|reasoning_details|extra_content|thought_?signature|signature)\b`)
	// limitRefused matches a refusal of the older name that recommends the newer one.
	limitRefused = pattern.New(`\bmax_tokens\b.*\bmax_completion_tokens\b`)
	echoMissed   = pattern.New(`(?i)missing|passed back|is required`)
)

// after is the dialect after a refusal of a request, in which something was echoed or
// not.
func (d dialect) after(why string, echoed bool) dialect {
	switch {
	case limitRefused().MatchString(why):
		d.completionLimit = true
	case idsRefused().MatchString(why):
		d.shortIDs = true
	case !echoRefused().MatchString(why) || d.echo != echoAsCame:
	case echoMissed().MatchString(why) && strings.Contains(why, memberReasoningContent):
		d.echo = echoReasoning
	case echoMissed().MatchString(why) && strings.Contains(why, "thought_signature"):
		d.echo = echoSignature
	case echoed:
		d.echo = echoNothing
	}
	return d
}

// speak brings messages into the dialect.
func (d dialect) speak(messages []Message) {
	for i := range messages {
		m := &messages[i]
		if d.shortIDs {
			m.shortenIDs()
		}
		if m.Role != protocol.RoleAssistant {
			continue
		}
		switch d.echo {
		case echoNothing:
			m.forget()
		case echoReasoning:
			m.ReasoningContent = new(cmp.Or(m.reasoning, noReasoning))
		case echoSignature:
			m.sign()
		}
	}
}

func (m *Message) forget() {
	m.Echo = Echo{}
	for i := range m.ToolCalls {
		m.ToolCalls[i].ExtraContent = nil
	}
}

// sign signs the first of calls made at once, as their model would have.
func (m *Message) sign() {
	if len(m.ToolCalls) > 0 && m.ToolCalls[0].ExtraContent == nil {
		m.ToolCalls[0].ExtraContent = json.RawMessage(noSignature)
	}
}

func (m *Message) shortenIDs() {
	for i := range m.ToolCalls {
		m.ToolCalls[i].ID = shortID(m.ToolCalls[i].ID)
	}
	if m.Role == roleTool {
		m.ToolCallID = shortID(m.ToolCallID)
	}
}

var shortIDs = pattern.New(`^[A-Za-z0-9]{9}$`)

// shortID is the same for equal ids, and with all likelihood another for others.
func shortID(id string) string {
	if shortIDs().MatchString(id) {
		return id
	}
	hash := fnv.New64a()
	hash.Write([]byte(id))
	digits := strconv.FormatUint(hash.Sum64(), 36)
	return (strings.Repeat("0", 9) + digits)[len(digits):]
}
