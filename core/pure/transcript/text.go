package transcript

import (
	"strings"

	"appserver/protocol"
)

// InputText returns the text of a user's input.
func InputText(content []protocol.UserInput) string {
	var parts []string
	for _, c := range content {
		if t, ok := c.UserInputVariant.(*protocol.TextInput); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}
