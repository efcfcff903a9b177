package responses

import (
	"cmp"
	"slices"

	"appserver/core"
	"appserver/protocol"
)

// imageOutput is the text of an output that has images only.
const imageOutput = "(the image is in the next message)"

// withTextOutputs replaces the parts of outputs by their text. The images follow the outputs in a message of the user,
// because nothing may come between a call and its output.
func withTextOutputs(list []sentItem) (out []sentItem) {
	var images []protocol.ContentItem
	var from []int
	flush := func() {
		if len(images) > 0 {
			out = append(out, sentItem{&protocol.Message{Role: protocol.RoleUser, Content: images}, from})
			images, from = nil, nil
		}
	}
	for _, next := range list {
		output, ok := next.item.(*protocol.FunctionCallOutput)
		if !ok {
			flush()
			out = append(out, next)
			continue
		}
		if output.Output.Parts != nil {
			found := slices.DeleteFunc(slices.Clone(output.Output.Parts), func(p protocol.ContentItem) bool {
				return p.Type != protocol.ContentInputImage
			})
			placeholder := emptyOutput
			if len(found) > 0 {
				placeholder, images, from = imageOutput, append(images, found...), append(from, next.from...)
			}
			next.item = &protocol.FunctionCallOutput{CallID: output.CallID,
				Output: protocol.ToolOutput{Text: cmp.Or(protocol.JoinText(output.Output.Parts), placeholder)}}
		}
		out = append(out, next)
	}
	flush()
	return out
}

// hasOutputParts reports whether the output of a tool of a prompt is a list.
func hasOutputParts(p *core.Prompt) bool {
	return slices.ContainsFunc(p.Items, func(item protocol.ResponseItem) bool {
		switch i := item.ResponseItemVariant.(type) {
		case *protocol.FunctionCallOutput:
			return i.Output.Parts != nil
		case *protocol.CustomToolCallOutput:
			return i.Output.Parts != nil
		}
		return false
	})
}
