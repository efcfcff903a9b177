package economy

import (
	"hash/maphash"
	"time"

	"appserver/core"
	"appserver/core/effects/token"
	"appserver/core/pure/history"
	"appserver/protocol"
)

const (
	// model is a model whose tokens are counted exactly. messageTokens frame each part of a request.
	model         = "gpt-5"
	messageTokens = 4
	// retention is how long the provider keeps the prefix of a request.
	retention = 10 * time.Minute
)

// texts counts the tokens of texts, each once.
type texts struct {
	counter *token.Counter
	seed    maphash.Seed
	known   map[uint64]int64
	calls   map[*protocol.FunctionCall]part
}

// counter counts for all sessions.
var counter = token.New()

func newTexts() *texts {
	return &texts{counter, maphash.MakeSeed(), map[uint64]int64{}, map[*protocol.FunctionCall]part{}}
}

// part is a part of a request: its instructions, a tool, or an item.
type part struct {
	hash   uint64
	tokens int64
}

func (t *texts) part(text string) part {
	hash := maphash.String(t.seed, text)
	tokens, known := t.known[hash]
	if !known {
		tokens = int64(t.counter.Count(model, text)) + messageTokens
		t.known[hash] = tokens
	}
	return part{hash, tokens}
}

// parts returns the parts of a request.
func (t *texts) parts(p *core.Prompt) []part {
	all := []part{t.part(p.Instructions)}
	for _, tool := range p.Tools {
		all = append(all, t.part(tool.Name+" "+tool.Description+" "+string(tool.Parameters)))
	}
	for i := range p.Items {
		all = append(all, t.item(p.Items[i]))
	}
	return all
}

// item returns the part of an item. Calls are looked up by their address, because their texts are put together
// from names and arguments.
func (t *texts) item(item protocol.ResponseItem) part {
	c, isCall := item.ResponseItemVariant.(*protocol.FunctionCall)
	if !isCall {
		return t.part(history.ContentText(item))
	}
	known, ok := t.calls[c]
	if !ok {
		known = t.part(history.ContentText(item))
		t.calls[c] = known
	}
	return known
}

// usage is the sum of requests.
type usage struct{ requests, sent, cached int64 }

func (u usage) uncached() int64 { return u.sent - u.cached }

// price returns the price of the requests in tokens at the full price. ratio is the price of a cached token.
func (u usage) price(ratio float64) float64 { return float64(u.uncached()) + ratio*float64(u.cached) }

func (u *usage) add(o usage) {
	u.requests, u.sent, u.cached = u.requests+o.requests, u.sent+o.sent, u.cached+o.cached
}

// meter counts the requests of a session as a provider with a cache does.
type meter struct {
	*texts
	usage
	last   []part
	lastAt time.Time
}

// count counts a request, and returns what the provider reports. The cache has the parts that the last
// request began with, if it is not older than the retention.
func (m *meter) count(p *core.Prompt, now time.Time) protocol.TokenUsageBreakdown {
	parts := m.parts(p)
	var u usage
	warm := now.Sub(m.lastAt) <= retention
	for i, one := range parts {
		u.sent += one.tokens
		warm = warm && i < len(m.last) && m.last[i].hash == one.hash
		if warm {
			u.cached += one.tokens
		}
	}
	u.requests = 1
	m.add(u)
	m.last, m.lastAt = parts, now
	return protocol.TokenUsageBreakdown{InputTokens: u.sent, CachedInputTokens: u.cached, OutputTokens: 100,
		TotalTokens: u.sent + 100}
}
