package history

import (
	"encoding/gob"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

// itemColumns is a block of items. The keys of maps are positions in the block.
type itemColumns struct {
	Ordinal               []int64
	Line, Part, Pair      []int32
	Size, Images, Omitted []int32
	Flags                 []uint32
	// Model and Price are maps, because few items have them.
	Model map[int32]Model
	Price map[int32]int32
	// Turn has indices of Turns.
	Turn  []int32
	Turns []string
	Calls map[int32]string
	// Texts replace the items' own, Notes are parts of placeholders, Raw are items that no line has, UserItems
	// the ids of the thread items that show messages of the user.
	Texts     map[int32]string
	Notes     map[int32]string
	Raw       map[int32][]byte
	UserItems map[int32]string
}

// The flags of an item. The lowest bits are its role, the next ones its notice.
const (
	flagBits = 2

	flagDecoded = 1 << (2*flagBits + iota)
	flagMalformed
	flagMessage
	flagOfUser
	flagSummary
	flagOfPoint
	flagNoLine
	flagLatestCall
	flagHidden
	flagDeleted
	flagExcluded
	flagPinned
	flagReplaced
	flagOutdated
	flagReasoning
	flagCarrier
	flagEncrypted
	flagNative
	flagReported
)

func (h *History) writeItems(out *gob.Encoder, first, end int) error {
	c := itemColumns{
		Model: map[int32]Model{}, Price: map[int32]int32{}, Calls: map[int32]string{},
		Texts: map[int32]string{}, Notes: map[int32]string{}, Raw: map[int32][]byte{}, UserItems: map[int32]string{},
	}
	turns := map[string]int32{}
	for place := first; place < end; place++ {
		item := &h.items[place]
		turn, known := turns[item.turnID]
		if !known {
			turn = int32(len(c.Turns))
			turns[item.turnID], c.Turns = turn, append(c.Turns, item.turnID)
		}
		c.Turn = append(c.Turn, turn)
		if item.reasoning || item.native {
			c.Model[int32(place-first)] = h.models[item.model]
		}
		latest, isCall := h.latestCall[item.callID]
		if err := c.add(item, bitOf(flagLatestCall, isCall && int(latest) == place)); err != nil {
			return err
		}
		if id, shown := h.userItemIDs[int32(place)]; shown {
			c.UserItems[int32(place-first)] = id
		}
	}
	return out.Encode(&c)
}

func (c *itemColumns) add(item *Item, flags uint32) error {
	at := int32(len(c.Ordinal))
	c.Ordinal = append(c.Ordinal, item.ordinal)
	c.Line, c.Part, c.Pair = append(c.Line, item.Line), append(c.Part, item.Part), append(c.Pair, item.pair)
	c.Size, c.Images = append(c.Size, item.size), append(c.Images, item.images)
	c.Omitted = append(c.Omitted, item.visibility.omitted)
	c.Flags = append(c.Flags, flags|item.flags())
	if item.price > 0 {
		c.Price[at] = item.price
	}
	if item.callID != "" {
		c.Calls[at] = item.callID
	}
	if item.visibility.text != nil {
		c.Texts[at] = *item.visibility.text
	}
	if item.visibility.note != "" {
		c.Notes[at] = item.visibility.note
	}
	if item.Source != nil {
		return nil
	}
	raw, err := protocol.Marshal(item.Decode())
	c.Raw[at] = raw
	return err
}

func (c *Item) flags() uint32 {
	return uint32(c.role) | uint32(c.notice)<<flagBits | c.visibility.flags() |
		bitOf(flagDecoded, c.decoded) | bitOf(flagMalformed, c.malformed) |
		bitOf(flagMessage, c.message) | bitOf(flagOfUser, c.ofUser) |
		bitOf(flagSummary, c.summary) | bitOf(flagOfPoint, c.ofPoint) | bitOf(flagNoLine, c.Source == nil) |
		bitOf(flagOutdated, c.outdated) | bitOf(flagReasoning, c.reasoning) | bitOf(flagCarrier, c.carrier) |
		bitOf(flagEncrypted, c.encrypted) | bitOf(flagNative, c.native) | bitOf(flagReported, c.reported)
}

func (v *visibility) flags() uint32 {
	return bitOf(flagHidden, v.hidden) | bitOf(flagDeleted, v.deleted) | bitOf(flagExcluded, v.excluded) |
		bitOf(flagPinned, v.pinned) | bitOf(flagReplaced, v.text != nil)
}

func bitOf(bit uint32, set bool) uint32 {
	if set {
		return bit
	}
	return 0
}

func visibilityOf(flags uint32, omitted int32, note, text string) visibility {
	v := visibility{
		hidden: flags&flagHidden != 0, deleted: flags&flagDeleted != 0, excluded: flags&flagExcluded != 0,
		pinned: flags&flagPinned != 0, omitted: omitted, note: note,
	}
	if flags&flagReplaced != 0 {
		v.text = new(text)
	}
	return v
}

func (h *History) readItems(in *gob.Decoder, lines *lineref.Source) error {
	var c itemColumns
	if err := in.Decode(&c); err != nil {
		return err
	}
	n := len(c.Ordinal)
	differs := func(column []int32) bool { return len(column) != n }
	columns := [][]int32{c.Line, c.Part, c.Pair, c.Size, c.Images, c.Omitted, c.Turn}
	if n == 0 || len(c.Flags) != n || slices.ContainsFunc(columns, differs) {
		return errSnapshot
	}
	for i := range int32(n) {
		if c.Turn[i] < 0 || int(c.Turn[i]) >= len(c.Turns) {
			return errSnapshot
		}
		item := c.item(i, lines)
		if m, made := c.Model[i]; made {
			item.model = h.modelIndex(m)
		}
		h.appendRead(item, c.Flags[i], c.UserItems[i])
	}
	return nil
}

func (h *History) appendRead(item Item, flags uint32, userItem string) {
	place := int32(len(h.items))
	if flags&flagLatestCall != 0 {
		if h.latestCall == nil {
			h.latestCall = map[string]int32{}
		}
		h.latestCall[item.callID] = place
	}
	if userItem != "" {
		if h.userItemIDs == nil {
			h.userItemIDs = map[int32]string{}
		}
		h.userItemIDs[place] = userItem
	}
	h.items = append(h.items, item)
}

func (c *itemColumns) item(i int32, lines *lineref.Source) Item {
	flags := c.Flags[i]
	ref := lineref.Ref{Line: c.Line[i], Part: c.Part[i], Source: lines}
	if flags&flagNoLine != 0 {
		ref.Source, ref.Raw = nil, c.Raw[i]
	}
	const bits = 1<<flagBits - 1
	return Item{
		ordinal: c.Ordinal[i], Ref: ref, pair: c.Pair[i], turnID: c.Turns[c.Turn[i]], callID: c.Calls[i],
		role: role(flags & bits), notice: notice(flags >> flagBits & bits),
		decoded: flags&flagDecoded != 0, malformed: flags&flagMalformed != 0,
		message: flags&flagMessage != 0, ofUser: flags&flagOfUser != 0,
		reasoning: flags&flagReasoning != 0, carrier: flags&flagCarrier != 0, encrypted: flags&flagEncrypted != 0,
		native: flags&flagNative != 0, price: c.Price[i], reported: flags&flagReported != 0,
		summary: flags&flagSummary != 0, ofPoint: flags&flagOfPoint != 0, outdated: flags&flagOutdated != 0,
		size: c.Size[i], images: c.Images[i], visibility: visibilityOf(flags, c.Omitted[i], c.Notes[i], c.Texts[i]),
	}
}
