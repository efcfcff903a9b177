package chat

import (
	"cmp"
	"encoding/json"
	"strings"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/pure/jsonrepair"
	"appserver/protocol"
)

// callAssembly assembles tool calls from fragments. Providers differ in the fragments: the index can
// be missing, or 0 for every call; the id can be missing, repeated, or new in every fragment; the name
// can be repeated. A fragment with another id begins another call. When the answer is finished, calls
// that are pieces of one are joined.
type callAssembly struct {
	calls   []*openCall // in the order of their first fragments
	byIndex map[int]*slot
	byID    map[string]*openCall
	loose   slot              // the calls of fragments without an index
	renamed map[string]string // the ids that calls were given, by those that they had
}

// slot has the calls of one index.
type slot struct {
	calls []*openCall
	byID  map[string]*openCall
}

type openCall struct {
	id, name  string
	arguments strings.Builder
	braces    jsonrepair.Braces
	extra     json.RawMessage
	joined    bool // to an earlier call
}

func (c *callAssembly) add(f *fragment) {
	f.ID = strings.TrimSpace(f.ID)
	s := c.slot(f)
	call := c.target(s, f)
	call.name = cmp.Or(call.name, f.Function.Name)
	call.write(string(f.Function.Arguments))
	if call.id == "" && f.ID != "" {
		call.id = f.ID
		s.byID, c.byID = withCall(s.byID, call), withCall(c.byID, call)
	}
	if isSet(f.ExtraContent) {
		call.extra = f.ExtraContent
	}
}

func (c *openCall) write(arguments string) {
	c.arguments.WriteString(arguments)
	c.braces.Add(arguments)
}

// withCall adds a call to those by id. The first call of an id stays.
func withCall(byID map[string]*openCall, call *openCall) map[string]*openCall {
	if byID == nil {
		byID = map[string]*openCall{}
	}
	if byID[call.id] == nil {
		byID[call.id] = call
	}
	return byID
}

func (c *callAssembly) slot(f *fragment) *slot {
	if !f.Index.given {
		return &c.loose
	}
	s := c.byIndex[f.Index.place]
	if s == nil {
		if c.byIndex == nil {
			c.byIndex = map[int]*slot{}
		}
		s = &slot{}
		c.byIndex[f.Index.place] = s
	}
	return s
}

// target returns the call that a fragment belongs to.
func (c *callAssembly) target(s *slot, f *fragment) *openCall {
	call := s.byID[f.ID]
	if call == nil && !f.Index.given {
		call = c.byID[f.ID]
	}
	switch {
	case call != nil:
		return call
	case len(s.calls) == 0 && f.isTail() && len(c.calls) > 0 && !c.calls[len(c.calls)-1].braces.Closed():
		return c.calls[len(c.calls)-1] // its head had another index
	case len(s.calls) == 0 || s.calls[len(s.calls)-1].endsBefore(f):
		call = &openCall{}
		s.calls, c.calls = append(s.calls, call), append(c.calls, call)
		return call
	}
	return s.calls[len(s.calls)-1]
}

// fragment is a part of a tool call. Every member may be missing.
type fragment struct {
	Index        callIndex       `json:"index"`
	ID           string          `json:"id"`
	Function     function        `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// isTail reports whether a fragment has arguments only.
func (f *fragment) isTail() bool { return f.ID == "" && f.Function.Name == "" }

// endsBefore reports whether a fragment begins another call. Only fragments with a name can. Without
// an id, a fragment does if its name differs, or if the call already has all its arguments.
func (c *openCall) endsBefore(f *fragment) bool {
	name := f.Function.Name
	switch {
	case name == "" || c.name == "":
		return false
	case f.ID != "" && c.id != "":
		return f.ID != c.id
	}
	return name != c.name || c.braces.Closed()
}

// joinPieces joins calls of one index whose arguments are pieces: the provider gave each piece a new id.
// A call without all its arguments is joined with the next ones until both have them, or until one has
// them by itself, which repeats them.
func (s *slot) joinPieces() {
	for i := 0; i < len(s.calls); {
		first := s.calls[i]
		braces, end := first.braces, i+1
		for !braces.Closed() && end < len(s.calls) && s.calls[end].name == first.name {
			piece := s.calls[end]
			if piece.braces.Closed() && first.arguments.Len() == 0 {
				break // the first call has no arguments
			}
			if braces.Add(piece.arguments.String()); piece.braces.Closed() {
				braces = piece.braces
			}
			end++
		}
		if braces.Closed() {
			first.join(s.calls[i+1 : end])
		}
		i = end
	}
}

func (c *openCall) join(pieces []*openCall) {
	for _, piece := range pieces {
		c.write(piece.arguments.String())
		piece.joined = true
		if c.extra == nil {
			c.extra = piece.extra
		}
	}
}

// replace stores the calls of a message, which has all of them. Without names they are fragments.
func (c *callAssembly) replace(whole []fragment) {
	named := 0
	for i := range whole {
		if whole[i].Function.Name != "" {
			named++
		}
	}
	former := c.calls
	switch {
	case named > 0 && named < len(former):
		return // the deltas have more
	case named > 0:
		*c = callAssembly{}
	}
	for i := range whole {
		c.add(&whole[i])
	}
	for i, call := range c.calls {
		if named > 0 && i < len(former) && call.extra == nil {
			call.extra = former[i].extra
		}
	}
}

// finish returns the calls, each with an id of its own. It drops fragments with neither a name nor
// arguments.
func (c *callAssembly) finish(p *core.Prompt) []core.ToolCall {
	var calls []core.ToolCall
	var ids model.CallIDs
	c.loose.joinPieces()
	for _, s := range c.byIndex {
		s.joinPieces()
	}
	for _, call := range c.calls {
		if call.joined || call.name == "" && call.arguments.Len() == 0 {
			continue
		}
		id := ids.Claim(p, call.id)
		if id != call.id {
			c.rename(call.id, id)
		}
		calls = append(calls, core.ToolCall{
			ID: id, Name: call.name, Arguments: call.arguments.String(), Echo: call.echo(p),
		})
	}
	return calls
}

func (c *callAssembly) rename(from, to string) {
	if c.renamed == nil {
		c.renamed = map[string]string{}
	}
	c.renamed[from] = to
}

// echo returns the data that the provider needs back with the call, or nil.
func (c *openCall) echo(p *core.Prompt) *protocol.ProviderEcho {
	if c.extra == nil {
		return nil
	}
	return &protocol.ProviderEcho{Provider: p.Provider, Model: p.Model, ExtraContent: c.extra}
}
