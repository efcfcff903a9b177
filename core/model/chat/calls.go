package chat

import (
	"cmp"
	"encoding/json"
	"strings"

	"appserver/core"
	"appserver/core/model"
	"appserver/protocol"
)

// callAssembly assembles tool calls from fragments. Providers differ in the fragments: the index can
// be missing, or 0 for every call; the id can be missing, repeated, or new in every fragment; the name
// can be repeated.
type callAssembly struct {
	calls   []*openCall // in the order of their first fragments
	byIndex map[int]*openCall
	renamed map[string]string // the ids that calls were given, by those that they had
}

type openCall struct {
	id, name  string
	arguments strings.Builder
	extra     json.RawMessage
}

func (c *callAssembly) add(f *fragment) {
	call := c.target(f)
	call.id = cmp.Or(call.id, f.ID)
	call.name = cmp.Or(call.name, f.Function.Name)
	call.arguments.WriteString(string(f.Function.Arguments))
	if isSet(f.ExtraContent) {
		call.extra = f.ExtraContent
	}
}

// target is the call that a fragment belongs to.
func (c *callAssembly) target(f *fragment) *openCall {
	if f.Index == nil {
		return c.targetWithoutIndex(f)
	}
	call := c.byIndex[*f.Index]
	if call == nil || call.endsBefore(f) {
		call = c.open()
		if c.byIndex == nil {
			c.byIndex = map[int]*openCall{}
		}
		c.byIndex[*f.Index] = call
	}
	return call
}

func (c *callAssembly) targetWithoutIndex(f *fragment) *openCall {
	if f.ID != "" {
		for _, call := range c.calls {
			if call.id == f.ID {
				return call
			}
		}
	}
	if len(c.calls) == 0 || c.calls[len(c.calls)-1].endsBefore(f) {
		return c.open()
	}
	return c.calls[len(c.calls)-1]
}

func (c *callAssembly) open() *openCall {
	call := &openCall{}
	c.calls = append(c.calls, call)
	return call
}

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
	return name != c.name || c.isComplete()
}

func (c *openCall) isComplete() bool {
	text := strings.TrimSpace(c.arguments.String())
	return strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// finish gives the calls, each with an id of its own. What has neither name nor
// arguments was no call.
func (c *callAssembly) finish(p *core.Prompt) []core.ToolCall {
	var calls []core.ToolCall
	var ids model.CallIDs
	for _, call := range c.calls {
		if call.name == "" && call.arguments.Len() == 0 {
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
