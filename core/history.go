package core

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core/lineref"
	"appserver/protocol"
)

// history is the model's input history: every item that ever joined it, in order, and
// the journal of what edits made of them. Items are never taken out: their places in
// items are good for the life of the thread, and an edit changes their fates only.
type history struct {
	items []contextItem
	// order is the places of the items in the order in which they are sent; nil while
	// that is the one in which they joined.
	order []int32
	// hiddenTo is how many of the first items are known to be hidden.
	hiddenTo int32
	latest   map[string]int32 // the latest call with an id
	shownAs  map[int32]string // ids of the thread items that show a user's messages
	revision int64
	journal  []edit
	// scales are what counts of tokens are multiplied with, by model.
	scales map[string]float64
	// offsets are what is added to counts of the parts of a request that are no items,
	// by model.
	offsets map[string]int64
	// reminded is the place of the last reminder, counted from 1.
	reminded int32
	// conversing is set if an item of the conversation is kept behind that reminder.
	conversing bool
	// reordered is set if the reminder was moved since clients were sent the list.
	reordered bool
	// countedFor is the model that the items' tokens were counted for.
	countedFor string
	// makers are the models that made items which no other model reads.
	makers []maker
	// sealed are the ordinals of the compactions that only their provider can read, oldest first.
	sealed []int64
}

// maker is a model of a provider.
type maker struct{ provider, model string }

// contextItem is one entry of the history.
type contextItem struct {
	// ordinal is that of the line. The part is the position within a compacted line, -1
	// outside of one.
	ordinal int64
	lineref.Ref
	// pair is the place of the call of an output, and of the output of a call; none
	// where there is none.
	pair   int32
	turnID string
	callID string
	role   pairRole
	// checked is set once the item was decoded, unsound where it could not be.
	checked, unsound bool
	// message is set for messages, in contrast to reasoning and unknown items, ofUser for
	// those in the role of the user.
	message, ofUser bool
	// thought is set for reasoning, sealed for reasoning that is encrypted. carries is set for the
	// call or the text with which the provider marked that its reasoning goes back.
	thought, sealed, carries bool
	// native is set for an item that only the API of its provider knows, such as a web search.
	native bool
	// maker is the place in history.makers for reasoning and native items.
	maker int32
	tells subject
	// summary is set for a compaction's summary, ofPoint for one that came with a trim
	// point of this server's.
	summary, ofPoint bool
	// outdated is set for a reminder that another one took the place of.
	outdated bool
	// price is what an item with encrypted content costs, in the provider's tokens. billed is set if
	// the provider reported it; else it is an estimate.
	price  int32
	billed bool
	// aside is set if the next request has another form of the item.
	aside aside
	// size is that of the JSON, in bytes, images counts its images.
	size   int32
	images int32
	fate   fate
	item   protocol.ResponseItem
	about  *description // nil until it is asked for
}

// fate is what edits made of an item. The zero fate is that of a new one.
type fate struct {
	// hidden is set while a compaction or a trim has taken the item out, and for the items
	// that came with one that is undone.
	hidden   bool
	deleted  bool
	excluded bool
	pinned   bool
	// says is how many tokens the placeholder tells that stands in an output's place.
	says int32
	// text replaces the item's own; nil does not.
	text *string
}

const none = -1

// subject is what this server tells the model with a message of its own.
type subject int8

const (
	nothing subject = iota
	theEnvironment
	theInstructions
	theReminder
)

// Item is the entry, decoded when it is first asked for. An entry that cannot be
// decoded is an Unknown.
func (c *contextItem) Item() protocol.ResponseItem {
	item := c.decoded()
	if c.checked {
		c.item, c.Raw = item, nil
	}
	return item
}

// decoded is the entry, which stays undecoded itself.
func (c *contextItem) decoded() protocol.ResponseItem {
	if c.item.ResponseItemVariant != nil {
		return c.item
	}
	var item protocol.ResponseItem
	raw, read := c.Payload()
	c.checked, c.unsound = read, false
	if item.UnmarshalJSON(raw) != nil { // payloads are valid JSON
		item.ResponseItemVariant, c.unsound = &protocol.Unknown{Raw: raw}, true
	}
	return item
}

// sound tells whether the item can be decoded as what its type says.
func (c *contextItem) sound() bool {
	if !c.checked {
		c.decoded()
	}
	return !c.unsound
}

// id is how clients name the item.
func (c *contextItem) id() string {
	id := "r" + strconv.FormatInt(c.ordinal, 10)
	if c.Part >= 0 {
		id += "." + strconv.Itoa(int(c.Part))
	}
	return id
}

// listed tells whether clients see the item.
func (c *contextItem) listed() bool { return !c.fate.hidden && !c.fate.deleted && !c.outdated }

// kept tells whether the user wants the item in the prompt.
func (c *contextItem) kept() bool { return c.listed() && !c.fate.excluded }

// imageMark is in items that hold an image, once for each at least.
var imageMark = []byte(`"input_image"`)

// atMost bounds what the item costs, in tokens before the model's scale, without counting:
// no text has more tokens than bytes.
func (c *contextItem) atMost() int64 {
	bytes := int64(c.size) + int64(c.price) + int64(c.images)*imageTokens
	if c.fate.text != nil {
		bytes += int64(len(*c.fate.text))
	}
	return bytes + messageTokens
}

// join adds an item at the end, and finds the other half of its pair: an output
// belongs to the latest call with its id that has none.
func (h *history) join(c contextItem) {
	kind := gjson.GetBytes(c.Raw, "type").Str
	c.role, c.pair, c.message = roleOf(kind), none, kind == "message"
	c.ofUser = c.message && peek(c.Raw, "role") == protocol.RoleUser
	c.thought, c.native = kind == "reasoning", nativeKinds[kind]
	if encrypted := len(gjson.GetBytes(c.Raw, "encrypted_content").Str); encrypted > 0 && (c.thought || c.native) {
		c.sealed, c.price = c.thought, estimate(encrypted)
	}
	c.size = int32(min(len(c.Raw), math.MaxInt32))
	c.search()
	place := int32(len(h.items))
	if c.role != unpaired {
		c.callID = peek(c.Raw, "call_id")
		h.pair(&c, place)
	}
	h.items = append(h.items, c)
	h.appendOrder()
	h.follow(int(place))
}

// search looks through an item for what few have. Outputs are the largest by far: no model
// gives them, and one that is a text has no images.
func (c *contextItem) search() {
	output := c.role == anOutput
	c.carries = !output && !c.ofUser && bytes.Contains(c.Raw, echoMark) && gjson.GetBytes(c.Raw, "provider_echo.reasoning_member").Str != ""
	if !output || !bytes.Contains(c.Raw[:min(len(c.Raw), 256)], textOutputMark) {
		c.images = int32(bytes.Count(c.Raw, imageMark))
	}
}

var (
	// echoMark is in items with which something goes back to their provider.
	echoMark = []byte(`"provider_echo"`)
	// textOutputMark is where an output begins that is a text.
	textOutputMark = []byte(`"output":"`)
)

// carrierOf is the place of the item with which reasoning goes back, or none. It is in the same
// answer: after encrypted reasoning the next item that is no reasoning, because the provider demands
// the two together; else the next one that the provider marked.
func (h *history) carrierOf(thought int) int {
	sealed := h.items[thought].sealed
	for i := thought + 1; i < len(h.items) && !h.items[i].endsAnswer(); i++ {
		if c := &h.items[i]; sealed && !c.thought || !sealed && c.carries {
			return i
		}
	}
	return none
}

// thoughts are the places of the reasoning that goes back with an item.
func (h *history) thoughts(carrier int) (places []int) {
	for i := carrier - 1; i >= 0 && !h.items[i].endsAnswer(); i-- {
		if h.items[i].thought && h.carrierOf(i) == carrier {
			places = append(places, i)
		}
	}
	return places
}

// nativeKinds are the items that go back to the API that gave them and to no other.
var nativeKinds = map[string]bool{
	"web_search_call": true, "image_generation_call": true, "compaction": true, "compaction_summary": true, "context_compaction": true,
}

// makerOf is the place of a model in makers.
func (h *history) makerOf(m maker) int32 {
	i := slices.Index(h.makers, m)
	if i < 0 {
		i, h.makers = len(h.makers), append(h.makers, m)
	}
	return int32(i)
}

// endsAnswer tells of an item that no answer goes on behind it.
func (c *contextItem) endsAnswer() bool { return c.role == anOutput || c.ofUser }

func roleOf(kind string) pairRole {
	switch kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		return aCall
	case "function_call_output", "custom_tool_call_output":
		return anOutput
	}
	return unpaired
}

func (h *history) pair(c *contextItem, place int32) {
	call, found := h.latest[c.callID]
	switch {
	case c.callID == "":
	case c.role == aCall:
		if h.latest == nil {
			h.latest = map[string]int32{}
		}
		h.latest[c.callID] = place
	case found && h.items[call].pair == none && !h.items[call].fate.hidden:
		h.items[call].pair, c.pair = place, call
	}
}

// pairAgain pairs the items that are not hidden, after a compaction hid others or brought
// them back.
func (h *history) pairAgain() {
	clear(h.latest)
	for i := range h.items {
		c := &h.items[i]
		c.pair = none
		if c.fate.hidden && c.role == aCall && c.callID != "" {
			h.latest[c.callID] = int32(i)
		}
	}
	for i := range h.items {
		if c := &h.items[i]; c.role != unpaired && !c.fate.hidden {
			h.pair(c, int32(i))
		}
	}
}

// knowsCall tells whether a call has had the id.
func (h *history) knowsCall(id string) bool {
	_, known := h.latest[id]
	return known
}

// called tells whether the call of an output is in the prompt.
func (h *history) called(output *contextItem) bool {
	return output.pair != none && h.items[output.pair].kept() && h.items[output.pair].sound()
}

// standsFor tells whether a placeholder stands in the place of the output: its call is
// in the prompt without it.
func (h *history) standsFor(place int) bool {
	c := &h.items[place]
	return c.role == anOutput && !c.fate.hidden && !c.kept() && h.called(c)
}

// remains tells whether the item, or what stands in its place, is there for a reader
// that does not know of edits.
func (h *history) remains(place int) bool {
	c := &h.items[place]
	if c.role == anOutput {
		return !c.fate.hidden && h.called(c)
	}
	return c.kept()
}

// stray tells whether the item is an output without a call that can be decoded.
func (h *history) stray(place int) bool {
	c := &h.items[place]
	return c.role == anOutput && (c.pair == none || !h.items[c.pair].sound())
}

// find is the place of the item with the id, or of the next one.
func (h *history) find(id string) (place int, found bool) {
	rest, ok := strings.CutPrefix(id, "r")
	if !ok {
		return 0, false
	}
	number, part, inside := strings.Cut(rest, ".")
	ordinal, err := strconv.ParseInt(number, 10, 64)
	k := int64(none)
	if inside && err == nil {
		k, err = strconv.ParseInt(part, 10, 32)
	}
	if err != nil {
		return 0, false
	}
	place, found = h.search(ordinal, int32(k))
	return place, found && h.items[place].id() == id
}

// search is the place of the item of a line, or of the next one.
func (h *history) search(ordinal int64, part int32) (place int, found bool) {
	return slices.BinarySearchFunc(h.items, contextItem{ordinal: ordinal, Ref: lineref.Ref{Part: part}}, func(a, b contextItem) int {
		return cmp.Or(cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.Part, b.Part))
	})
}

// list is the places of the items that clients see, in order.
func (h *history) list() []int {
	places := make([]int, 0, len(h.items))
	for i := range h.inOrder() {
		if h.items[i].listed() {
			places = append(places, i)
		}
	}
	return places
}
