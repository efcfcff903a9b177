package chat

import (
	"appserver/protocol"
)

// chatParts returns the texts and images of a message, in order.
func chatParts(items []protocol.ContentItem) []Part {
	var parts []Part
	for _, i := range items {
		switch {
		case isImage(i):
			parts = append(parts, imagePart(i))
		case i.Text != "":
			parts = append(parts, Part{Type: "text", Text: i.Text})
		}
	}
	return parts
}

func imageParts(items []protocol.ContentItem) []Part {
	var parts []Part
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
func imagePart(i protocol.ContentItem) Part {
	image := &Image{URL: i.ImageURL}
	if i.Detail == "low" || i.Detail == "high" || i.Detail == "auto" {
		image.Detail = i.Detail
	}
	return Part{Type: "image_url", ImageURL: image}
}

// object returns a JSON object of one member, a string or strings.
func object(name string, value any) string {
	b, err := protocol.Marshal(map[string]any{name: value})
	if err != nil {
		return "{}"
	}
	return string(b)
}
