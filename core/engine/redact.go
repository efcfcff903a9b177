package engine

import (
	"bytes"
	"slices"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// redacted are lines as the disk gets them. The state in memory stays what it is, so that
// what the model sees does not change before the thread is loaded anew.
func (a *actor) redacted(lines []protocol.RolloutLine) []protocol.RolloutLine {
	r := a.engine.parts.Setup.Redactor(a.scope)
	if r == nil || a.options.Ephemeral {
		return lines
	}
	out := make([]protocol.RolloutLine, len(lines))
	for i, line := range lines {
		out[i] = r.Line(line)
	}
	return out
}

// redactedProjection redacts what the state in memory puts into a line.
func (a *actor) redactedProjection(p rollout.Projection) rollout.Projection {
	r := a.engine.parts.Setup.Redactor(a.scope)
	if r == nil || p == nil {
		return p
	}
	return func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
		projected, keep := p(line)
		if keep && !bytes.Equal(projected.Payload, line.Payload) {
			projected = r.Line(projected)
		}
		return projected, keep
	}
}

func (a *actor) redactedText(text string) string { return a.textRedactor()(text) }

// textRedactor takes secrets out of texts as the thread's configuration says now; it may be
// used by any goroutine.
func (a *actor) textRedactor() func(text string) string {
	if r := a.engine.parts.Setup.Redactor(a.scope); r != nil {
		return r.Text
	}
	return func(text string) string { return text }
}

// redactedSpans are spans as the disk may have them, with long texts shortened: that comes last,
// since a part of a secret is known to nobody.
func redactedSpans(r Redactor, spans []core.Span) []core.Span {
	out := make([]core.Span, len(spans))
	for i, span := range spans {
		if r != nil {
			span.Request, span.Items = r.Text(span.Request), slices.Clone(span.Items)
			for k, item := range span.Items {
				span.Items[k] = redactedItem(r, item)
			}
		}
		out[i] = span.Shortened()
	}
	return out
}

// redactedItem is empty where it cannot be redacted.
func redactedItem(r Redactor, item protocol.ResponseItem) (out protocol.ResponseItem) {
	raw, err := protocol.Marshal(item)
	if err == nil {
		err = protocol.Unmarshal(r.Line(protocol.RolloutLine{Type: protocol.LineResponseItem, Payload: raw}).Payload, &out)
	}
	if err != nil {
		out.ResponseItemVariant = &protocol.Unknown{}
	}
	return out
}
