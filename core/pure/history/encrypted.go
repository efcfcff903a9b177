package history

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// An encrypted compaction replaces the items before it, and only its provider can read it. The history
// has both. The next request has the compaction if it goes to that provider by the Responses API, and
// the original items otherwise.

// form is the reason why the next request does not have an item, but another form of it.
type form int8

const (
	noForm form = iota
	// compaction is the form of the items before an encrypted compaction that is sent.
	compaction
	// originals are the form of the items of an encrypted compaction that is not sent.
	originals
)

// joinEncrypted adds the items of an encrypted compaction. ChooseForms decides if they are sent.
func (h *History) joinEncrypted(line *Line, items []json.RawMessage) {
	h.encrypted, h.formsDue = append(h.encrypted, line.Ordinal), true
	for k, raw := range items {
		h.join(Item{ordinal: line.Ordinal, turnID: line.TurnID, Ref: line.ref(k, raw), replacedBy: originals})
		added := h.Item(h.items.Len() - 1)
		added.model = h.modelIndex(h.destination.Model)
		if n := noticeOf(raw); added.ofUser && n != reminder {
			added.notice = n
		}
	}
}

// ChooseForms decides which form of the items before encrypted compactions the next request has. It
// must be called after a line was applied and after the destination changed.
func (h *History) ChooseForms() {
	if !h.formsDue {
		return
	}
	h.formsDue = false
	if len(h.encrypted) == 0 && h.sentCompaction == 0 {
		return
	}
	h.sentCompaction = h.sendableCompaction()
	changed := false
	for i := range h.items.Len() {
		c := h.Item(i)
		if f := h.formOf(c); f != c.replacedBy {
			c.replacedBy, changed = f, true
		}
	}
	if changed {
		h.announced.stale, h.usage = true, nil
		h.findNotices()
	}
}

// SentCompaction returns the ordinal of the encrypted compaction that the next request has, or 0.
func (h *History) SentCompaction() int64 { return h.sentCompaction }

// sendableCompaction returns the ordinal of the last encrypted compaction that the next request can
// have, or 0. A compaction that the user took out cannot be sent.
func (h *History) sendableCompaction() int64 {
	for i := len(h.encrypted) - 1; i >= 0; i-- {
		if c := h.encryptedItem(h.encrypted[i]); c != nil && c.Kept() && h.nativeNotSent(c) == "" {
			return h.encrypted[i]
		}
	}
	return 0
}

func (h *History) formOf(c *Item) form {
	switch {
	case c.ordinal < h.sentCompaction:
		return compaction
	case c.ordinal == h.sentCompaction, !c.IsPart() || !h.isEncryptedAt(c.ordinal):
		return noForm
	}
	return originals
}

// isEncryptedAt reports whether the line with an ordinal is an encrypted compaction that no later trim
// or compaction took out. The items that remain of one that was taken out are ordinary items.
func (h *History) isEncryptedAt(ordinal int64) bool {
	if !slices.Contains(h.encrypted, ordinal) {
		return false
	}
	c := h.encryptedItem(ordinal)
	return c != nil && !c.visibility.hidden
}

// encryptedItem returns the encrypted item of a compaction, or nil.
func (h *History) encryptedItem(ordinal int64) *Item {
	first, _ := h.search(ordinal, 0)
	for i := first; i < h.items.Len() && h.Item(i).ordinal == ordinal; i++ {
		if c := h.Item(i); c.native && c.price > 0 {
			return c
		}
	}
	return nil
}

// LastEncrypted returns the ordinal of the last encrypted compaction that no trim or compaction took
// out, or 0.
func (h *History) LastEncrypted() int64 {
	for i := len(h.encrypted) - 1; i >= 0; i-- {
		if h.isEncryptedAt(h.encrypted[i]) {
			return h.encrypted[i]
		}
	}
	return 0
}

// encryptedAfter hides the encrypted compactions after the first item that a trim keeps, because they
// also replace items before it.
func (h *History) encryptedAfter(from int, kept map[int]bool) (changes []Change) {
	if from == None || len(h.encrypted) == 0 {
		return nil
	}
	for _, i := range h.sortedShown() {
		c := h.Item(i)
		if kept[i] || !c.IsPart() || c.ordinal <= h.Item(from).ordinal ||
			!h.isEncryptedAt(c.ordinal) {
			continue
		}
		changes = append(changes, h.hide(int32(i)))
	}
	return changes
}

// isEncrypted reports whether the history of a compaction has an encrypted item that replaces others.
func isEncrypted(history []json.RawMessage) bool {
	for _, raw := range history {
		item := gjson.GetManyBytes(raw, "type", "encrypted_content")
		switch item[0].Str {
		case "compaction", "compaction_summary", "context_compaction":
			if item[1].Str != "" {
				return true
			}
		}
	}
	return false
}

// Encrypted content cannot be counted. Reasoning costs the reasoning tokens that the provider reported
// for its answer. Before that, and for encrypted compactions, an estimate is used. It is the estimate of
// the reference implementation, by the length of the content.
const (
	// encryptedOverhead is the number of bytes of encrypted content that are no text.
	encryptedOverhead = 650
	// encryptedBytesPerToken is the average number of bytes of its text in a token.
	encryptedBytesPerToken = 4
)

// estimateEncrypted returns the price of encrypted content in base64, in tokens.
func estimateEncrypted(length int) int32 {
	tokens := max(length/4*3-encryptedOverhead, 0) / encryptedBytesPerToken
	return int32(min(max(tokens, 1), maxTokens))
}

// FirstEstimated returns the place of the first encrypted reasoning of the last answer whose price is
// an estimate, or Len.
func (h *History) FirstEstimated() (first int) {
	first = h.items.Len()
	for i := h.items.Len() - 1; i >= 0 && !h.Item(i).endsAnswer(); i-- {
		if h.Item(i).encrypted && !h.Item(i).reported {
			first = i
		}
	}
	return first
}

// PriceReasoning divides the reasoning tokens that a provider reported among the encrypted reasoning of
// the last answer, in proportion to the estimates.
func (h *History) PriceReasoning(reported int64) {
	var reasoning []*Item
	sum := int64(0)
	for i := h.FirstEstimated(); i < h.items.Len(); i++ {
		if c := h.Item(i); c.encrypted && !c.reported {
			reasoning, sum = append(reasoning, c), sum+int64(c.price)
		}
	}
	h.usage = nil
	for _, c := range reasoning {
		share := math.Round(float64(reported) * float64(c.price) / float64(sum))
		c.price, c.reported, c.about = int32(min(max(share, 1), maxTokens)), true, nil
	}
}

// otherFormSent returns the reason for an item of which the next request has another form.
func (h *History) otherFormSent(c *Item) protocol.NotSentReason {
	if c.replacedBy == compaction {
		return protocol.NotSentCompactionSent
	}
	if reason := h.nativeNotSent(c); c.native && reason != "" {
		return reason
	}
	return protocol.NotSentOriginalsSent
}

// RefuseEncrypted removes the encrypted content before a line from requests to a provider, which could not read it.
func (h *History) RefuseEncrypted(ordinal int64, provider string) {
	refused := map[string]int64{provider: ordinal} // copies of the history share the former map
	for other, before := range h.refused {
		if other != provider {
			refused[other] = before
		}
	}
	h.refused = refused
	h.formsDue, h.announced.stale, h.usage = true, true, nil
}

// isRefused reports whether an item is encrypted, and its provider could not read it.
func (h *History) isRefused(c *Item) bool {
	if c.ordinal >= h.refused[h.modelOf(c).Provider] {
		return false
	}
	return c.encrypted || c.native && c.price > 0 && slices.Contains(h.encrypted, c.ordinal)
}
