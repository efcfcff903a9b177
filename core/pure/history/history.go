package history

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// History is the input history of a thread's model: every item that ever joined it, in order, and
// the journal of edits. Items are never removed. A place, the index of an item, is therefore valid
// for the life of the history, and an edit changes the visibility of items only.
//
// The zero History is empty. It is not safe for concurrent use.
type History struct {
	items snapshot.List[Item]
	// order has the places in the order in which items are sent, or is nil if that is the order
	// in which they joined.
	order      []int32
	shown      shown
	latestCall snapshot.IDs // the latest call with an id
	// trimmedTurns are the turns before the latest trim point, or nil until they are needed again.
	trimmedTurns map[string]bool
	revision     int64
	journal      []Edit
	// savings has the tokens that edits save, for each revision that changed the number.
	savings savings
	notices notices
	// models are the models that made reasoning and native items.
	models []Model
	// encrypted has the ordinals of encrypted compactions, oldest first.
	encrypted []int64
	// refused has the ordinal of the last line that refused encrypted content, by the name of the provider.
	refused map[string]int64
	// sentCompaction is the ordinal of the encrypted compaction in the next request, or 0.
	sentCompaction int64
	// formsDue is set if the forms of items may have changed since ChooseForms was called.
	formsDue bool
	// scales are factors for token counts, by model; offsets are added to the overhead of a request.
	scales map[string]Scale
	// fits decide between the factors of scripts, by model.
	fits    map[string]scaleFit
	offsets map[string]int64
	// reports are the last reports about whole requests, and cuts the windows to which providers cut prompts, by
	// model.
	reports map[string]report
	cuts    map[string]int64
	// pricedFor is the model for which the items' tokens were counted.
	pricedFor   string
	destination Destination
	options     Options
	announced   announced
	// usage is the cost of the context. Edits keep it up to date. It is nil if all items must be counted again.
	usage *usageCounter
}

// Model is a model of a provider.
type Model struct{ Provider, Name string }

// Destination is the recipient of the next request. The tokens and the items of the request depend
// on it.
type Destination struct {
	Model
	// Responses is set if the provider is asked by the Responses API.
	Responses bool
}

// Options are the parts of a history that are not in its lines.
type Options struct {
	// Tokenizer counts tokens; nil counts one for every four bytes.
	Tokenizer Tokenizer
	// Preview returns the lines of an item. subject is the subject of the call of an output, the name of the agent
	// whose result the item is, or "".
	Preview func(item protocol.ResponseItem, subject string) Lines
	// ShowsCall reports whether a thread item with the id of the call shows a call of the tool.
	ShowsCall func(tool string) bool
}

// Configure sets the options.
func (h *History) Configure(o Options) { h.options = o }

// SetModel sets the model of the next request.
func (h *History) SetModel(m Model) { h.setDestination(Destination{m, h.destination.Responses}) }

// SetResponses sets whether the next request uses the Responses API.
func (h *History) SetResponses(responses bool) {
	h.setDestination(Destination{h.destination.Model, responses})
}

func (h *History) setDestination(d Destination) {
	h.formsDue = h.formsDue || d != h.destination
	h.destination = d
}

// Destination returns the recipient of the next request.
func (h *History) Destination() Destination { return h.destination }

// Len returns the number of items, hidden ones included. Places are below it.
func (h *History) Len() int { return h.items.Len() }

// Item returns the item at a place.
func (h *History) Item(place int) *Item { return h.items.At(place) }

// at does the same as Item, for an int32, the type of places in items and edits.
func (h *History) at(place int32) *Item { return h.items.At(int(place)) }

// Revision returns the number of edits so far, or more if lines are missing.
func (h *History) Revision() int64 { return h.revision }

// Find returns the place of the item with an id. If no item has it, Find returns the place of the
// next item, or Len, and false.
func (h *History) Find(id string) (place int, found bool) {
	rest, ok := strings.CutPrefix(id, "r")
	if !ok {
		return 0, false
	}
	number, part, inside := strings.Cut(rest, ".")
	ordinal, err := strconv.ParseInt(number, 10, 64)
	k := int64(lineref.Whole)
	if inside && err == nil {
		k, err = strconv.ParseInt(part, 10, 32)
	}
	if err != nil {
		return 0, false
	}
	place, found = h.search(ordinal, int32(k))
	return place, found && h.Item(place).ID() == id
}

// FindOrdinal returns the place of the first item whose line has the ordinal or a later one, or Len.
func (h *History) FindOrdinal(ordinal int64) int {
	place, _ := h.search(ordinal, lineref.Whole)
	return place
}

// search returns the place of the item of a line or of its part, or else of the next item.
func (h *History) search(ordinal int64, part int32) (place int, found bool) {
	return h.items.Search(func(c *Item) int {
		return cmp.Or(cmp.Compare(c.ordinal, ordinal), cmp.Compare(c.Part, part))
	})
}

// Listed returns the places of the items that clients see, in order.
func (h *History) Listed() []int { return h.firstListed(h.Len()) }

// firstListed returns the places of the first n items that clients see, in order, or of all if there are fewer.
func (h *History) firstListed(n int) []int {
	h.updateShown()
	places := make([]int, 0, min(n, len(h.shown.places)))
	for i := range h.Shown() {
		if len(places) == n {
			break
		}
		if h.Item(i).Listed() {
			places = append(places, i)
		}
	}
	return places
}

// listedUpTo counts the listed items up to a place, that place included.
func (h *History) listedUpTo(place int) (count int) {
	all := h.Shown()
	if h.Item(place).visibility.hidden {
		all = h.InOrder()
	}
	for i := range all {
		if h.Item(i).Listed() {
			count++
		}
		if i == place {
			break
		}
	}
	return count
}

// ShowUserMessage records the id of the thread item that shows the last item, if that is a message
// of the user.
func (h *History) ShowUserMessage(id string) {
	place := h.items.Len() - 1
	if place < 0 || !h.Item(place).ofUser {
		return
	}
	if c := h.Item(place); c.userItemID == "" {
		c.userItemID, c.about, h.usage = id, nil, nil // its category may have changed
	}
}

// HasTurn reports whether an item belongs to a turn.
func (h *History) HasTurn(id string) bool {
	for i := h.items.Len() - 1; i >= 0; i-- { // mostly one of the last
		if h.Item(i).turnID == id {
			return true
		}
	}
	return false
}

// UserMessages returns the place of the user's first message of each turn.
func (h *History) UserMessages() map[string]int {
	first := map[string]int{}
	for place, c := range h.items.All() {
		if _, known := first[c.turnID]; !known && c.userItemID != "" {
			first[c.turnID] = place
		}
	}
	return first
}

// UserItemID returns the id of the thread item that shows the user's message at a place, or "".
func (h *History) UserItemID(place int) string { return h.Item(place).userItemID }

// modelOf returns the model that made an item, or the zero Model if it is not known.
func (h *History) modelOf(c *Item) Model {
	if int(c.model) >= len(h.models) {
		return Model{}
	}
	return h.models[c.model]
}

// modelIndex returns the index of a model in models.
func (h *History) modelIndex(m Model) int32 {
	i := slices.Index(h.models, m)
	if i < 0 {
		i, h.models = len(h.models), append(h.models, m)
	}
	return int32(i)
}

// announced is the state of the list that clients were last notified of.
type announced struct {
	items       int
	destination Destination
	// same is the place from which on items may have changed since, at most items.
	same int
	// stale is set if any item may have changed since.
	stale bool
	// repriced is set if all prices may have changed since.
	repriced bool
}
