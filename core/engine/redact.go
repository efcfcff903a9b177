package engine

import (
	"bytes"
	"slices"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// redacted returns lines without secrets. The state in memory keeps them, so that the model sees
// the same text until the thread is reloaded.
func (a *actor) redacted(lines []protocol.RolloutLine) []protocol.RolloutLine {
	r := a.config().Redactor
	if r == nil || a.options.Ephemeral {
		return lines
	}
	out := make([]protocol.RolloutLine, len(lines))
	for i, line := range lines {
		out[i] = r.Line(line)
	}
	return out
}

// redactedProjection removes secrets from the texts that the projection adds.
func (a *actor) redactedProjection(p rollout.Projection) rollout.Projection {
	r := a.config().Redactor
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

// textRedactor returns a function that removes secrets by the current configuration of the thread.
// Any goroutine may call it.
func (a *actor) textRedactor() func(text string) string {
	if r := a.config().Redactor; r != nil {
		return r.Text
	}
	return func(text string) string { return text }
}

// redactedSpans returns spans without secrets. It shortens long texts last, because a redactor does
// not recognize a part of a secret.
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

// redactedItem returns an item without secrets, or an empty item if it cannot be redacted.
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
