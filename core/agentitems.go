package core

import (
	"fmt"
	"slices"

	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// ChosenItems selects items that an agent begins with.
type ChosenItems = toolspec.ChosenItems

// ItemsFor returns the chosen items of the context as the next request has them. A call and its output stay together.
// An id that names no sent item, and an unknown category, are errors.
func (t *Thread) ItemsFor(c *ChosenItems) (items []protocol.ResponseItem, err error) {
	wanted, err := t.placesFor(c)
	if err != nil {
		return nil, err
	}
	for _, place := range slices.Clone(wanted) {
		if pair := t.context.Item(place).Pair(); pair != history.None {
			wanted = append(wanted, pair)
		}
	}
	places := t.context.PromptPlaces()
	for i, item := range t.context.Prompt() {
		if slices.Contains(wanted, places[i]) {
			items = append(items, item)
		}
	}
	return items, nil
}

// placesFor returns the places of the chosen items, without the halves of calls that the choice does not name.
func (t *Thread) placesFor(c *ChosenItems) (places []int, err error) {
	sent := t.context.PromptPlaces()
	for _, id := range c.IDs {
		place, found := t.context.Find(id)
		if !found || !slices.Contains(sent, place) {
			return nil, fmt.Errorf("there is no item %s in the conversation", id)
		}
		places = append(places, place)
	}
	for _, category := range c.Categories {
		if !slices.Contains(protocol.ContextCategories(), protocol.ContextCategory(category)) {
			return nil, fmt.Errorf("there is no category %s of items", category)
		}
	}
	turns := t.context.ActiveTurns()
	recent := turns[max(len(turns)-int(min(max(c.LastTurns, 0), int64(len(turns)))), 0):]
	for _, place := range sent {
		item := t.context.Item(place)
		byTurn := slices.Contains(recent, item.TurnID()) && !item.IsNotice()
		if byTurn || slices.Contains(c.Categories, string(t.context.Category(place))) {
			places = append(places, place)
		}
	}
	return slices.DeleteFunc(places, t.isOpenHalf), nil
}

// isOpenHalf reports whether an item is a call without an output.
func (t *Thread) isOpenHalf(place int) bool {
	item := t.context.Item(place)
	return item.IsCall() && item.Pair() == history.None
}
