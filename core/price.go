package core

import "appserver/protocol"

// Tokenizer counts tokens. Equal texts have equal counts.
type Tokenizer interface {
	// Known tells whether counts are those of the model itself. Others are scaled to
	// what the provider reports.
	Known(model string) bool
	Count(model, text string) int
}

const (
	// maxTokens bounds a count, so that it fits a fate.
	maxTokens = 1<<31 - 1
	// messageTokens are those that frame a message: its begin, its role, its end. They
	// are what OpenAI documents for its models, as are primeTokens, which begin the
	// answer.
	messageTokens = 4
	primeTokens   = 3
	// imageTokens are those of an image of medium size, lowDetailTokens of one in low
	// detail.
	imageTokens     = 765
	lowDetailTokens = 85
	// placeholderTokens are those of a placeholder, with its frame.
	placeholderTokens = 10 + messageTokens
)

// roughly counts a token for every four bytes.
type roughly struct{}

func (roughly) Known(string) bool        { return true }
func (roughly) Count(_, text string) int { return (len(text) + 3) / 4 }

func (t *Thread) tokenizer() Tokenizer {
	if t.options.Tokens != nil {
		return t.options.Tokens
	}
	return roughly{}
}

// count is what content costs in a message, before the model's scale.
func (t *Thread) count(c content) int64 {
	n := messageTokens
	if c.text != "" {
		n += t.tokenizer().Count(t.countedFor, c.text)
	}
	for _, image := range c.images {
		if image.Detail == "low" {
			n += lowDetailTokens
		} else {
			n += imageTokens
		}
	}
	return int64(n)
}

// recount forgets what was counted for another model.
func (t *Thread) recount() {
	if t.countedFor == t.settings.Model {
		return
	}
	t.countedFor = t.settings.Model
	t.frame = frame{}
	for i := range t.items {
		t.items[i].about = nil
	}
}

// counted is what a request costs that is made of the first n items, before the model's
// scale; 0 where it holds images, whose price is a guess.
func (t *Thread) counted(n int) int64 {
	t.recount()
	sum := t.frameTokens(t.request())
	for i := range t.items[:n] {
		switch {
		case t.inPrompt(i) && t.describe(i).images:
			return 0
		case t.inPrompt(i):
			sum += t.describe(i).beforeScale(t.scale())
		case t.placeholderSent(i):
			sum += placeholderTokens
		}
	}
	return sum
}

// uncountedLimit is how many bytes of items may be counted within a turn: some
// milliseconds' worth.
const uncountedLimit = 256 << 10

// uncounted is about how many bytes of items have not been counted yet.
func (t *Thread) uncounted() (bytes int) {
	t.recount()
	for i := range t.items {
		if t.items[i].about == nil {
			bytes += int(t.items[i].size)
		}
	}
	return bytes
}

// frame is what the parts of a request that are no items cost.
type frame struct {
	instructions string
	offers       Offers
	escalation   bool // of the shell that is offered
	recalls      bool
	mode         string
	tokens       int64
}

// frameTokens are those of the system prompt and the tools.
func (t *Thread) frameTokens(p *Prompt) int64 {
	if t.frame.tokens > 0 && t.frame.instructions == p.Instructions && t.frame.escalation == t.mayEscalate() && t.frame.recalls == t.recalls() && t.frame.offers == t.offers && t.frame.mode == t.settings.Mode {
		return t.frame.tokens
	}
	n := int64(primeTokens) + t.count(content{text: p.Instructions})
	for _, tool := range p.Tools {
		n += t.count(content{text: tool.Name + " " + tool.Description + " " + string(tool.Parameters)})
	}
	t.frame = frame{p.Instructions, t.offers, t.mayEscalate(), t.recalls(), t.settings.Mode, n}
	return n
}

// scale is what counts for the model are multiplied with.
func (t *Thread) scale() float64 {
	if scale, known := t.scales[t.settings.Model]; known {
		return scale
	}
	return 1
}

// scaled is a count as the provider would report it.
func (t *Thread) scaled(tokens int64) int64 { return scaled(tokens, t.scale()) }

func scaled(tokens int64, scale float64) int64 { return int64(float64(tokens)*scale + 0.5) }

const (
	// tolerance is by how much a count may differ from what the provider reports.
	tolerance = 0.02
	// leastScale and mostScale bound what is believed of a provider's report.
	leastScale, mostScale = 0.25, 4
)

// calibrate learns from a report of the provider how its count of a request differs from
// ours. Where the tokenizer is the model's, what differs are the parts that are no
// items: providers write the tools out in a way of their own. Else it is the scale of
// all counts, if it is outside the tolerance.
func (l *log) calibrate(model string, info *protocol.TokenCountInfo) {
	counted, reported := info.CountedInputTokens, info.LastTokenUsage.InputTokens
	switch {
	case counted <= 0 || reported <= 0:
	case !info.CountedByModel:
		l.rescale(model, counted, reported)
	case reported > counted/2 && reported/2 < counted: // else it is of something else
		if l.offsets == nil {
			l.offsets = map[string]int64{}
		}
		l.offsets[model] = reported - counted
	}
}

func (l *log) rescale(model string, counted, reported int64) {
	scale, known := l.scales[model]
	if !known {
		scale = 1
	}
	ratio := float64(reported) / float64(counted)
	if off := float64(counted)*scale - float64(reported); max(off, -off) <= tolerance*float64(reported) || ratio < leastScale || ratio > mostScale {
		return
	}
	if l.scales == nil {
		l.scales = map[string]float64{}
	}
	l.scales[model] = ratio
}
