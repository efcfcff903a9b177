package history

import (
	"slices"

	"appserver/protocol"
)

// ReadItem returns the item with an id in full: what the next request has of it, what the rollout has,
// and why the two differ. It also returns items that left the list.
func (h *History) ReadItem(id string) (answer protocol.ContextReadItemResponse, err *protocol.Error) {
	place, found := h.Find(id)
	if !found {
		return answer, protocol.Refuse(protocol.KindItemNotFound,
			"there is no item %s in this thread: read the list again with context/getItems", id)
	}
	h.dropStaleCounts()
	c, index := h.Item(place), None
	if c.Listed() {
		index = h.listedUpTo(place) - 1
	}
	original := c.Decode()
	answer = protocol.ContextReadItemResponse{
		Revision: h.revision, Item: h.view(index, place), Original: partsOf(original), Reason: h.reasonOf(place),
	}
	switch {
	case h.PlaceholderSent(place):
		answer.Sent = &[]protocol.ContextPart{textPart(c.visibility.placeholder())}
	case h.InPrompt(place) && c.visibility.Text != nil:
		answer.Sent = new(partsOf(WithText(original, *c.visibility.Text)))
	case h.InPrompt(place):
		answer.Sent = &answer.Original
	}
	return answer, nil
}

// partsOf returns the content of an item. The text of a call is its tool and its arguments.
func partsOf(item protocol.ResponseItem) []protocol.ContextPart {
	parts := []protocol.ContextPart{}
	switch v := protocol.PeerMessageForm(item).ResponseItemVariant.(type) {
	case *protocol.Message:
		return contentParts(parts, v.Content)
	case *protocol.FunctionCallOutput:
		return outputParts(v.Output)
	case *protocol.CustomToolCallOutput:
		return outputParts(v.Output)
	case *protocol.Reasoning:
		for _, part := range slices.Concat(v.Summary, v.Content) {
			parts = append(parts, textPart(part.Text))
		}
		if v.EncryptedContent != nil {
			parts = append(parts, dataPart(*v.EncryptedContent))
		}
	case *protocol.Unknown:
		return append(parts, dataPart(string(v.Raw)))
	default:
		return append(parts, textPart(ContentText(item)))
	}
	return parts
}

func outputParts(output protocol.ToolOutput) []protocol.ContextPart {
	if output.Parts == nil {
		return []protocol.ContextPart{textPart(output.Text)}
	}
	return contentParts([]protocol.ContextPart{}, output.Parts)
}

func contentParts(parts []protocol.ContextPart, content []protocol.ContentItem) []protocol.ContextPart {
	for _, c := range content {
		switch {
		case c.Raw != nil:
			parts = append(parts, dataPart(string(c.Raw)))
		case c.Type == protocol.ContentInputImage:
			parts = append(parts, protocol.ContextPart{Type: protocol.PartImage, URL: &c.ImageURL})
		default:
			parts = append(parts, textPart(c.Text))
		}
	}
	return parts
}

func textPart(text string) protocol.ContextPart {
	return protocol.ContextPart{Type: protocol.PartText, Text: &text}
}

func dataPart(text string) protocol.ContextPart {
	return protocol.ContextPart{Type: protocol.PartData, Text: &text}
}
