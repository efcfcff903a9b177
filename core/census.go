package core

import (
	"slices"

	"appserver/protocol"
)

// contextUsage is what the context costs.
func (t *Thread) contextUsage() protocol.ContextUsage {
	t.recount()
	c := census{scale: t.scale()}
	for i := range t.items {
		if !t.items[i].fate.hidden {
			c.add(t, i)
		}
	}
	u := c.usage()
	frame := scaled(t.frameTokens(t.request()), c.scale) + t.offsets[t.settings.Model]
	u.PromptTokens = max(frame, 0) + u.IncludedTokens
	u.ModelContextWindow = t.usage.ModelContextWindow
	return u
}

// census adds up what items cost.
type census struct {
	scale           float64
	total, included [2]int64                   // tokens and bytes
	rows            [16]protocol.CategoryUsage // by description.kind
}

func (c *census) add(t *Thread, place int) {
	about := t.describe(place)
	row := &c.rows[about.kind]
	if t.items[place].listed() {
		price := about.price(c.scale)
		row.Count++
		row.Tokens += price
		row.Bytes += about.bytes
		c.total[0] += price
		c.total[1] += about.bytes
	}
	tokens, bytes := t.sentSize(place, c.scale)
	row.IncludedTokens += tokens
	c.included[0] += tokens
	c.included[1] += bytes
}

func (c *census) usage() protocol.ContextUsage {
	u := protocol.ContextUsage{
		TotalTokens: c.total[0], TotalBytes: c.total[1], IncludedTokens: c.included[0], IncludedBytes: c.included[1],
		ByCategory: []protocol.CategoryUsage{},
	}
	for i, category := range protocol.ContextCategories() {
		if row := c.rows[i]; row.Count > 0 || row.IncludedTokens > 0 { // a deleted output has a placeholder
			row.Category = category
			u.ByCategory = append(u.ByCategory, row)
		}
	}
	return u
}

// sentSize is what the next request holds of an item, or of its placeholder.
func (t *Thread) sentSize(place int, scale float64) (tokens, bytes int64) {
	switch {
	case t.inPrompt(place):
		about := t.describe(place)
		return about.price(scale), about.bytes
	case t.placeholderSent(place):
		return scaled(placeholderTokens, scale), int64(len(placeholder(t.items[place].fate.says)))
	}
	return 0, 0
}

// savedBy is how much smaller changes make the next request, in tokens.
func (t *Thread) savedBy(changes []change) (tokens int64) {
	t.recount()
	places := t.placesOf(changes)
	if hides(changes) { // pairs change too
		places = slices.Collect(t.inOrder())
	}
	before := t.sentTokens(places)
	t.try(changes, func() { tokens = before - t.sentTokens(places) })
	return tokens
}

// try does something while changes are made, and takes them back.
func (t *Thread) try(changes []change, do func()) {
	t.put(changes)
	t.chooseForms()
	if hides(changes) {
		t.pairAgain()
		defer t.pairAgain()
	}
	do()
	t.takeBack(changes)
	t.chooseForms()
}

func (t *Thread) sentTokens(places []int) (sum int64) {
	scale := t.scale()
	for _, place := range places {
		tokens, _ := t.sentSize(place, scale)
		sum += tokens
	}
	return sum
}
