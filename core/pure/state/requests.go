package state

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"appserver/core/pure/history"
	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// request refers to the line of a model request.
type request struct {
	Ordinal int64
	ref     lineref.Ref
}

// addRequest adds a model request. Its line is read again when a client asks for it.
func (s *State) addRequest(ordinal int64, ref lineref.Ref, r *protocol.StoredRequest) {
	if r.Usage != nil {
		s.Requested = s.Requested.Add(r.Usage.Breakdown())
		s.spend(r)
		s.Saved += s.SavedIn(r)
	}
	s.Sent.add(r, s.Session)
	if s.Texts == nil {
		s.Texts = map[string]int{}
	}
	if _, known := s.Texts[r.SystemID]; !known && r.System != nil {
		s.Texts[r.SystemID] = s.requests.Len()
	}
	if _, known := s.Texts[r.ToolsID]; !known && r.Tools != nil {
		s.Texts[r.ToolsID] = s.requests.Len()
	}
	ref.Evict()
	s.requests.Append(request{ordinal, ref})
}

// ModelTokens is the sum of the tokens of a model's requests.
type ModelTokens struct {
	Model  history.Model
	Tokens protocol.TokenUsageBreakdown
}

// Spending returns the sums of the tokens of model requests: by model, of all models, and of what edits of
// the context kept out of them.
func (s *State) Spending() (byModel iter.Seq2[history.Model, protocol.TokenUsageBreakdown],
	all protocol.TokenUsageBreakdown, saved int64,
) {
	return func(yield func(history.Model, protocol.TokenUsageBreakdown) bool) {
		for _, m := range s.Spent {
			if !yield(m.Model, m.Tokens) {
				return
			}
		}
	}, s.Requested, s.Saved
}

// spend adds the tokens of a request to those of its model.
func (s *State) spend(r *protocol.StoredRequest) {
	model := history.Model{Provider: r.Provider, Name: r.Model}
	i := slices.IndexFunc(s.Spent, func(m ModelTokens) bool { return m.Model == model })
	if i < 0 {
		i, s.Spent = len(s.Spent), append(s.Spent, ModelTokens{Model: model})
	}
	s.Spent[i].Tokens = s.Spent[i].Tokens.Add(r.Usage.Breakdown())
}

// SavedIn returns the number of tokens that edits of the context kept out of a request. Reviews and
// summaries do not send the context as it is.
func (s *State) SavedIn(r *protocol.StoredRequest) int64 {
	if r.Kind != protocol.RequestTurn {
		return 0
	}
	return s.Context.SavedAt(r.Revision)
}

// Sent are sums over the answered model requests of turns, and facts about the last one.
type Sent struct {
	Requests int64
	// Cached and Uncached are the sums of the input tokens that came from the provider's cache, and of the
	// others.
	Cached, Uncached int64
	// At is the time of the last answer in Unix milliseconds. Input is its number of input tokens.
	At, Input                int64
	Provider, Model, Session string
}

func (s *Sent) add(r *protocol.StoredRequest, session string) {
	if r.Kind != protocol.RequestTurn || r.Usage == nil || r.Usage.InputTokens <= 0 {
		return
	}
	cached := min(max(r.Usage.CachedInputTokens, 0), r.Usage.InputTokens)
	s.Requests++
	s.Cached, s.Uncached = s.Cached+cached, s.Uncached+r.Usage.InputTokens-cached
	s.At, s.Input = r.StartedAt+r.DurationMs, r.Usage.InputTokens
	s.Provider, s.Model, s.Session = r.Provider, r.Model, session
}

// Requests returns the number of model requests.
func (s *State) Requests() int { return s.requests.Len() }

// Request returns the i-th model request. It is empty if its line cannot be read now.
func (s *State) Request(i int) *protocol.StoredRequest {
	raw, _ := s.requests.At(i).ref.Payload()
	var e protocol.TokenCount
	if protocol.Unmarshal(raw, &e) != nil || e.Request == nil {
		return &protocol.StoredRequest{}
	}
	return e.Request
}

// RequestID returns the id of the i-th model request: "m" and the ordinal of its line.
func (s *State) RequestID(i int) string { return "m" + strconv.FormatInt(s.requests.At(i).Ordinal, 10) }

// FindRequest returns the index of the model request with an id, or -1.
func (s *State) FindRequest(id string) int {
	number, ok := strings.CutPrefix(id, "m")
	ordinal, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return -1
	}
	i, found := s.requests.Search(func(r *request) int { return cmp.Compare(r.Ordinal, ordinal) })
	if !found || s.RequestID(i) != id {
		return -1
	}
	return i
}
