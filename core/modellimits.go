package core

import (
	"fmt"
	"slices"

	"appserver/protocol"
)

// effortNone asks for an answer without reasoning.
const effortNone = "none"

// warnOfLimits warns of what a request leaves out because the provider reports that the model does not take it. The
// client gets each warning once.
func (s *step) warnOfLimits(p *Prompt) {
	c, of := &s.capabilities, fmt.Sprintf("Model %s, provider %s", p.Model, p.Provider)
	var warnings []string
	if c.NoTools {
		warnings = append(warnings, "The model takes no tools: it can neither run commands nor change files. "+
			"Choose another model for that. "+of)
	}
	if effort := s.state.Settings.Effort; c.NoThinking && effort != nil && *effort != "" && *effort != effortNone {
		warnings = append(warnings, fmt.Sprintf("The model does not reason. Requests are sent without the reasoning effort %q. %s",
			*effort, of))
	}
	if c.NoImages && slices.ContainsFunc(p.Items, hasImage) {
		warnings = append(warnings, "The model does not take images. A note stands in the place of each image. "+of)
	}
	s.warnOnce(warnings)
}

// hasImage reports whether a message or an output has an image.
func hasImage(item protocol.ResponseItem) bool {
	var parts []protocol.ContentItem
	switch i := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		parts = i.Content
	case *protocol.FunctionCallOutput:
		parts = i.Output.Parts
	case *protocol.CustomToolCallOutput:
		parts = i.Output.Parts
	}
	isImage := func(part protocol.ContentItem) bool { return part.Type == protocol.ContentInputImage }
	return slices.ContainsFunc(parts, isImage)
}
