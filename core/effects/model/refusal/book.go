package refusal

import (
	"sync"

	"appserver/core"
)

// Request has the parts of a refused request that can be changed.
type Request struct {
	// Chat is set for Chat Completions.
	Chat bool
	// Members are the optional members, those within another one first.
	Members []string
	// Effort is the effort of reasoning that the prompt asks for, or "".
	Effort string
	// Tools are the functions, in their order.
	Tools []string
	// Custom is set if a tool is no function, Search if there is a search of the web.
	Custom, Search bool
	// RawReasoning is set if an item has raw reasoning.
	RawReasoning bool
	// Echoed is set if a part of an earlier answer was sent back, NullContent if a message has no content.
	Echoed, NullContent bool
	// OutputParts is set if an output of a tool is a list.
	OutputParts bool

	images []sentImage
}

// Kind handles the refusals of one part of requests.
type Kind struct {
	// Part names the refused part in the documentation.
	Part string
	// Quiet is set if the model gets the same content after the change. Then only the log has the notice.
	Quiet bool
	learn func(*Refusal, *Request, *Demands) (notice string)
}

// Change is a change of the demands after a refusal. The zero value is no change.
type Change struct {
	// Notice describes the change for people.
	Notice string
	Quiet  bool
}

// Kinds returns all kinds, in the order in which they are tried. Kinds that need an exact name come before those that
// look for words.
func Kinds() []Kind {
	return []Kind{
		{"ids of calls", true, learnIDs},
		{"the name of the limit of output tokens", true, learnLimit},
		{"raw reasoning", true, learnRaw},
		{"the effort of reasoning", false, learnEffort},
		{"optional members", false, learnMembers},
		{"the search of the web", false, learnSearch},
		{"custom tools", true, learnCustom},
		{"the member strict of functions", true, learnStrict},
		{"all tools", false, learnNoTools},
		{"a tool", false, learnTool},
		{"returned reasoning", true, learnEcho},
		{"the form of messages", true, learnShape},
		{"images", false, learnImages},
	}
}

// Book keeps the demands of a provider's models. The zero value has none. It is safe for concurrent use.
type Book struct {
	mu      sync.Mutex
	byModel map[string]*Demands
	none    *Demands // of the models that are not in byModel
}

// Of returns the demands of a model. They do not change.
func (b *Book) Of(model string) *Demands {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.byModel[model]; d != nil {
		return d
	}
	if b.none == nil {
		b.none = &Demands{}
	}
	return b.none
}

// Learn adds a change to the demands of the prompt's model, after a refusal of a request for the prompt. It returns no
// change if the refusal demands nothing new.
func (b *Book) Learn(p *core.Prompt, r *Refusal, q *Request) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.byModel[p.Model]
	if known == nil {
		known = &Demands{}
	}
	after := known.clone()
	q.Effort, q.images = p.Effort, known.of(p).imagesOf(p)
	for _, kind := range Kinds() {
		notice := kind.learn(r, q, after)
		if notice == "" {
			continue
		}
		if b.byModel == nil {
			b.byModel = map[string]*Demands{}
		}
		b.byModel[p.Model] = after
		return Change{notice, kind.Quiet}
	}
	return Change{}
}
