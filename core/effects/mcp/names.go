package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"appserver/core"
	"appserver/platform/excerpt"
)

// maxName is the longest name of a tool that providers allow, in characters.
const maxName = 64

// maxDescription bounds the description of a tool for the model, in bytes.
const maxDescription = 10_000

// namer assigns the names by which the model calls tools: mcp__SERVER__TOOL, in characters that
// providers allow. A name that is too long or in use ends with a hash.
type namer map[string]bool

func (n namer) name(server, tool string) string {
	name := "mcp__" + sanitize(server) + "__" + sanitize(tool)
	if len(name) > maxName || n[name] {
		sum := sha256.Sum256([]byte(server + "\x00" + tool))
		mark := "_" + hex.EncodeToString(sum[:6])
		name = name[:min(len(name), maxName-len(mark))] + mark
	}
	n[name] = true
	return name
}

// sanitize replaces each character except ASCII letters and digits by an underscore.
func sanitize(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, name)
}

// offered returns the tools that the model may call, sorted by name.
func (s *server) offered(names namer) []core.ServerTool {
	s.mu.Lock()
	tools, instructions := slices.Clone(s.tools), s.instructions
	s.mu.Unlock()
	slices.SortStableFunc(tools, func(a, b listed) int { return strings.Compare(a.Name, b.Name) })
	var offered []core.ServerTool
	for _, t := range tools {
		if s.allows(t.Name) {
			offered = append(offered, s.tool(t, names))
			offered[len(offered)-1].Instructions = instructions
		}
	}
	return offered
}

// allows reports whether a tool may be called.
func (s *server) allows(tool string) bool {
	return (s.def.Enabled == nil || slices.Contains(s.def.Enabled, tool)) && !slices.Contains(s.def.Disabled, tool)
}

func (s *server) tool(t listed, names namer) core.ServerTool {
	out := core.ServerTool{
		Spec: core.ToolSpec{Name: names.name(s.def.Name, t.Name),
			Description: excerpt.Head(t.Description, maxDescription), Parameters: t.schema.JSON},
		Server: s.def.Name, Tool: t.Name, Schema: t.schema, Approval: s.def.Approval, Serial: s.def.Serial,
		Offer: s.def.Offer,
	}
	if space := "mcp__" + sanitize(s.def.Name); strings.HasPrefix(out.Name, space+"__") {
		out.Namespace = space
	}
	if mode, set := s.def.ToolApproval[t.Name]; set {
		out.Approval = mode
	}
	if a := t.Annotations; a != nil {
		out.ReadOnly, out.Destructive, out.OpenWorld = &a.ReadOnlyHint, a.DestructiveHint, a.OpenWorldHint
		out.Annotations, _ = json.Marshal(a) // parsed JSON can always be encoded
	}
	return out
}
