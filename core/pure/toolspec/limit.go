package toolspec

import (
	"fmt"

	"appserver/platform/excerpt"
	"appserver/platform/pattern"
	"appserver/protocol"
)

const (
	// MaxOutput bounds the text of a tool that the model gets from one call, in bytes. The core adds its lines about the
	// call, and bounds the output by the context window.
	MaxOutput = 40_000
	// partCost is how many bytes of the limit each part takes beside its text.
	partCost = 16
)

// LimitOutput returns an output with about limit bytes of text. Long texts are cut in the middle. Images stay. Parts
// without room are left out, and a last part has their number.
func LimitOutput(output protocol.ToolOutput, limit int) protocol.ToolOutput {
	output.Text = excerpt.Ends(output.Text, limit)
	if output.Parts == nil {
		return output
	}
	parts, dropped := []protocol.ContentItem{}, 0
	for _, part := range output.Parts {
		switch {
		case part.Type == protocol.ContentInputImage:
		case limit <= 0:
			dropped++
			continue
		default:
			part.Text = excerpt.Ends(part.Text, limit)
			limit -= len(part.Text) + partCost
		}
		parts = append(parts, part)
	}
	if dropped > 0 {
		parts = append(parts, textPart(fmt.Sprintf("[%d more parts of the result are left out]", dropped)))
	}
	output.Parts = parts
	return output
}

// cutMark matches the marks of LimitOutput, and those of package excerpt in outputs of commands.
var cutMark = pattern.New(`\[\.\.\. \d+ bytes cut \.\.\.\]|\[\d+ more parts of the result are left out\]`)

// IsCut reports whether an output has the mark of a text that was cut, or of parts that were left out.
func IsCut(text string) bool { return cutMark().MatchString(text) }
