package core

import (
	"math"

	"appserver/protocol"
)

// Encrypted content cannot be counted. Reasoning costs what the provider reported as the reasoning
// tokens of its answer. Until then, and for encrypted compactions, an estimate takes the place of
// the report: the reference implementation's, by the length of the content.
const (
	// sealedFrame is how many bytes of encrypted content are no text.
	sealedFrame = 650
	// sealedBytesPerToken is how many bytes of its text a token has, about.
	sealedBytesPerToken = 4
)

// estimate is the price of content that is encrypted and written in base64, in tokens.
func estimate(length int) int32 {
	tokens := max(length/4*3-sealedFrame, 0) / sealedBytesPerToken
	return int32(min(max(tokens, 1), maxTokens))
}

// unbilled is the place of the first encrypted reasoning of the last answer whose price is an
// estimate, or the number of items.
func (h *history) unbilled() (first int) {
	first = len(h.items)
	for i := len(h.items) - 1; i >= 0 && !h.items[i].endsAnswer(); i-- {
		if h.items[i].sealed && !h.items[i].billed {
			first = i
		}
	}
	return first
}

// bill gives the encrypted reasoning of the last answer the price that its provider reported, each
// item its share by the estimates.
func (h *history) bill(reported int64) {
	var thoughts []*contextItem
	sum := int64(0)
	for i := h.unbilled(); i < len(h.items); i++ {
		if c := &h.items[i]; c.sealed && !c.billed {
			thoughts, sum = append(thoughts, c), sum+int64(c.price)
		}
	}
	for _, c := range thoughts {
		share := math.Round(float64(reported) * float64(c.price) / float64(sum))
		c.price, c.billed, c.about = int32(min(max(share, 1), maxTokens)), true, nil
	}
}

// applyPrices takes the report of an answer. Events that repeat a report are passed over.
func (l *log) applyPrices(info *protocol.TokenCountInfo) {
	reported := info.LastTokenUsage.ReasoningOutputTokens
	if total := info.TotalTokenUsage.Breakdown(); reported > 0 && total != l.usage.Total {
		l.bill(reported)
	}
}
