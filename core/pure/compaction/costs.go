package compaction

import (
	"cmp"
	"slices"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// costTable has the costs of the items by their ranks in the prompt. Each entry is the sum over all ranks
// before it.
type costTable struct {
	places []int
	// costs has all items, stays the items that a trim retains, words the other messages of the user, and
	// masks what placeholders for outputs save.
	costs, stays, words, masks []int64
	// work counts the items that a compaction is for: answers, calls and outputs.
	work []int
	// overhead is the cost of the request's other parts.
	overhead int64
}

// costs returns the costs of the prompt now.
func (c *Context) costs() *costTable {
	t := &costTable{}
	stays := map[int]bool{}
	for _, i := range c.Retained(history.None) {
		stays[i] = true
	}
	var cost, stay, word, mask int64
	work := 0
	appendRank := func(place int) {
		t.places, t.work = append(t.places, place), append(t.work, work)
		t.costs, t.stays = append(t.costs, cost), append(t.stays, stay)
		t.words, t.masks = append(t.words, word), append(t.masks, mask)
	}
	for place := range c.Shown() {
		appendRank(place)
		item := c.Item(place)
		price := c.SentTokens(place)
		cost += price
		switch {
		case price == 0, item.IsSummary():
		case stays[place], c.isRequest(place):
			stay += price
		case c.IsUserMessage(place):
			word += price
		case c.Category(place) == protocol.CategoryOther: // messages of this server
		default:
			work++
			if item.IsOutput() && item.Kept() {
				mask += max(price-c.Scaled(history.LatinTokens(history.PlaceholderTokens)), 0)
			}
		}
	}
	appendRank(history.None)
	t.overhead = c.PromptTokens - cost
	return t
}

// rank returns the rank of a place. None is after all items.
func (t *costTable) rank(place int) int { return slices.Index(t.places, place) }

// after returns an upper bound of the prompt's cost after a compaction that keeps the items from a rank on, a
// summary and some messages of the user.
func (t *costTable) after(rank int, summary, words int64) int64 {
	all := t.costs[len(t.costs)-1]
	return t.overhead + all - t.costs[rank] + t.stays[rank] + summary + min(words, t.words[rank])
}

// wordsWithin returns the maximum number of tokens of the user's messages. If the request exceeds
// the limit after a compaction that keeps the items from a rank on, it is the room that the target
// has for them.
func (t *costTable) wordsWithin(limit, target int64, rank int, summary, words int64) int64 {
	after := t.after(rank, summary, words)
	if limit == 0 || after <= limit {
		return words
	}
	return max(min(words, t.words[rank])-(after-cmp.Or(target, limit)), 0)
}

// removed returns a lower bound of what such a compaction removes.
func (t *costTable) removed(rank int, words int64) int64 {
	return t.costs[rank] - t.stays[rank] - min(words, t.words[rank])
}

// masked returns the cost with placeholders for the outputs before a rank.
func (t *costTable) masked(rank int) int64 {
	return t.overhead + t.costs[len(t.costs)-1] - t.masks[rank]
}
