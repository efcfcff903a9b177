package core

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"appserver/core/pure/compaction"
	"appserver/protocol"
)

// sendRequest starts a model request. Its terminal input records it.
func (s *step) sendRequest(r protocol.StoredRequest, e ModelRequest) {
	p := e.Prompt
	r.TurnID, r.Provider, r.Model, r.Effort = e.TurnID, p.Provider, p.Model, p.Effort
	r.Responses, r.Revision, r.Items = s.capabilities.Responses, s.context.Revision(), len(p.Items)
	if r.Kind != protocol.RequestCompaction {
		r.From = s.state.Next
	}
	if s.sent == nil {
		s.sent = map[EffectID]*sentRequest{}
	}
	s.sent[e.ID] = &sentRequest{StoredRequest: r, system: p.Instructions, tools: promptTools{p.Tools, p.WebSearch},
		startedAt: s.Now}
	s.effect(e)
}

// storedSpan returns the items of a plan by their ids.
func (s *step) storedSpan(p compaction.Plan, window *int64) *protocol.StoredSpan {
	span := &protocol.StoredSpan{Window: window}
	if p.From != none {
		span.KeepFrom = s.context.Item(p.From).ID()
	}
	for _, place := range p.Words {
		span.Kept = append(span.Kept, s.context.Item(place).ID())
	}
	return span
}

// endSent returns the model request that an effect made, with its outcome, or nil if it is not known. Its
// caller records it.
func (s *step) endSent(id EffectID, prompt string, usage *protocol.TokenUsageBreakdown) *protocol.StoredRequest {
	sent := s.sent[id]
	if sent == nil {
		return nil
	}
	delete(s.sent, id)
	r := &sent.StoredRequest
	r.PromptID = prompt
	r.StartedAt, r.DurationMs = sent.startedAt.UnixMilli(), s.Now.Sub(sent.startedAt).Milliseconds()
	if usage != nil {
		r.Usage = new(usage.Stored())
	}
	r.SystemID = hashOf([]byte(sent.system))
	if _, known := s.state.Texts[r.SystemID]; !known {
		r.System = &sent.system
	}
	if s.hashed.id == "" || !s.hashed.equals(&sent.tools) {
		s.hashed = hashedTools{sent.tools, hashOf(sent.tools.text())}
	}
	r.ToolsID = s.hashed.id
	if _, known := s.state.Texts[r.ToolsID]; !known {
		r.Tools = sent.tools.text()
	}
	return r
}

// promptTools are the tools of a prompt.
type promptTools struct {
	Tools     []ToolSpec     `json:"tools"`
	WebSearch *WebSearchTool `json:"web_search,omitempty"`
}

func (t *promptTools) text() json.RawMessage {
	raw, _ := protocol.Marshal(t) // schemas of tools are valid JSON
	return raw
}

func (t *promptTools) equals(o *promptTools) bool {
	return slices.EqualFunc(t.Tools, o.Tools, ToolSpec.Equal) &&
		(t.WebSearch == o.WebSearch || t.WebSearch != nil && o.WebSearch != nil && *t.WebSearch == *o.WebSearch)
}

// recordUnanswered records a model request that failed or was cancelled.
func (s *step) recordUnanswered(r *protocol.StoredRequest, reason string) {
	if r == nil {
		return
	}
	r.Error = reason
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Request: r})
	s.out.Sync = true
}

// keepCancelled keeps a cancelled request of the active turn until the turn ends. The end of its effect and the
// answer of the next request come in any order, and the order of lines must not depend on that.
func (s *step) keepCancelled(r *protocol.StoredRequest) {
	if r != nil && !s.isIdle() {
		s.active.cancelled = append(s.active.cancelled, r)
	}
}

// recordCancelled records the cancelled requests of the active turn.
func (s *step) recordCancelled() {
	slices.SortFunc(s.active.cancelled, func(a, b *protocol.StoredRequest) int { return cmp.Compare(a.From, b.From) })
	for _, r := range s.active.cancelled {
		s.recordUnanswered(r, requestCancelled)
	}
}

const requestCancelled = "the request was cancelled"

// RenderedPrompt is a prompt as a provider gets it. Sources has, for each message, the indices of the items of the
// prompt that it is made of.
type RenderedPrompt struct {
	Messages, Tools []json.RawMessage
	Sources         [][]int
}

// ID returns the hash of the messages and the tools.
func (r *RenderedPrompt) ID() string {
	sum := sha256.New()
	for _, list := range [][]json.RawMessage{r.Messages, r.Tools} {
		for _, raw := range list {
			_, _ = sum.Write(raw) // a hash does not fail
			_, _ = sum.Write([]byte{'\n'})
		}
		_, _ = sum.Write([]byte{'\n'})
	}
	return shortHash(sum.Sum(nil))
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return shortHash(sum[:])
}

// shortHash returns the first half of a hash. That is enough to compare texts of one rollout.
func shortHash(sum []byte) string { return hex.EncodeToString(sum[:sha256.Size/2]) }
