package model

import (
	"encoding/json"
	"strings"

	"appserver/protocol"
)

// maxFunctionName is the longest name of a function that the API takes.
const maxFunctionName = 64

// chatParts are the texts and images of a message, in order.
func chatParts(items []protocol.ContentItem) []ChatPart {
	var parts []ChatPart
	for _, i := range items {
		switch {
		case isImage(i):
			parts = append(parts, imagePart(i))
		case i.Text != "":
			parts = append(parts, ChatPart{Type: "text", Text: i.Text})
		}
	}
	return parts
}

func imageParts(items []protocol.ContentItem) []ChatPart {
	var parts []ChatPart
	for _, i := range items {
		if isImage(i) {
			parts = append(parts, imagePart(i))
		}
	}
	return parts
}

func isImage(i protocol.ContentItem) bool {
	return i.Type == protocol.ContentInputImage && i.ImageURL != ""
}

// imagePart keeps the details that the API knows.
func imagePart(i protocol.ContentItem) ChatPart {
	image := &ChatImage{URL: i.ImageURL}
	if i.Detail == "low" || i.Detail == "high" || i.Detail == "auto" {
		image.Detail = i.Detail
	}
	return ChatPart{Type: "image_url", ImageURL: image}
}

// functionName replaces what the API takes in no name. A model can write any name
// into a call, and the history with it would be refused for ever.
func functionName(name string) string {
	valid := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return orElse(valid[:min(len(valid), maxFunctionName)], "unknown")
}

// argumentsObject is the text of a JSON object for the arguments that a model
// wrote: several providers answer 400 to a history with anything else in it.
func argumentsObject(arguments string) string {
	trimmed := strings.TrimSpace(arguments)
	switch {
	case trimmed == "":
		return "{}"
	case trimmed[0] == '{' && json.Valid([]byte(trimmed)):
		return arguments
	}
	return inputObject(arguments)
}

func inputObject(input string) string { return object("input", input) }

// object is a JSON object of one member, a string or strings.
func object(name string, value any) string {
	b, err := protocol.Marshal(map[string]any{name: value})
	if err != nil {
		return "{}"
	}
	return string(b)
}
