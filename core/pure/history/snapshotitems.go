package history

import (
	"slices"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// itemColumns is a block of items. The keys of maps are positions in the block.
type itemColumns struct {
	Ordinal               []int64
	Line, Part, Pair      []int32
	Size, Images, Omitted []int32
	Flags                 []uint32
	// Model and Price are maps, because few items have them. Model has indices of the models of the history.
	Model map[int32]int32
	Price map[int32]int32
	// Turn has indices of Turns.
	Turn  []int32
	Turns []string
	Calls map[int32]string
	// Raw are items that no line has, UserItems the ids of the thread items that show messages of the user.
	Marks     map[int32]marks
	Raw       map[int32][]byte
	UserItems map[int32]string
}

// The flags of an item. The lowest bits are its role, the next ones its notice.
const (
	flagBits, noticeBits = 2, 3

	flagDecoded = 1 << (flagBits + noticeBits + iota - 1)
	flagMalformed
	flagMessage
	flagOfUser
	flagSummary
	flagOfPoint
	flagNoLine
	flagHidden
	flagDeleted
	flagExcluded
	flagPinned
	flagReplaced
	flagReasoning
	flagCarrier
	flagEncrypted
	flagNative
	flagReported
	flagRaw
)

// encodeItems returns the columns of items.
func encodeItems(items []Item) (any, error) {
	c := &itemColumns{
		Model: map[int32]int32{}, Price: map[int32]int32{}, Calls: map[int32]string{},
		Marks: map[int32]marks{}, Raw: map[int32][]byte{}, UserItems: map[int32]string{},
	}
	turns := map[string]int32{}
	for i := range items {
		item := &items[i]
		turn, known := turns[item.turnID]
		if !known {
			turn = int32(len(c.Turns))
			turns[item.turnID], c.Turns = turn, append(c.Turns, item.turnID)
		}
		c.Turn = append(c.Turn, turn)
		if err := c.add(item); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *itemColumns) add(item *Item) error {
	at := int32(len(c.Ordinal))
	c.Ordinal = append(c.Ordinal, item.ordinal)
	c.Line, c.Part, c.Pair = append(c.Line, item.Line), append(c.Part, item.Part), append(c.Pair, item.pair)
	c.Size, c.Images = append(c.Size, item.size), append(c.Images, item.images)
	c.Omitted = append(c.Omitted, item.visibility.omitted)
	c.Flags = append(c.Flags, item.flags())
	if item.price > 0 {
		c.Price[at] = item.price
	}
	if item.callID != "" {
		c.Calls[at] = item.callID
	}
	item.visibility.addTo(c.Marks, at)
	if item.userItemID != "" {
		c.UserItems[at] = item.userItemID
	}
	if item.model > 0 {
		c.Model[at] = item.model
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
		bitOf(flagReasoning, c.reasoning) | bitOf(flagCarrier, c.carrier) |
		bitOf(flagEncrypted, c.encrypted) | bitOf(flagNative, c.native) | bitOf(flagReported, c.reported) |
		bitOf(flagRaw, c.raw)
}

func (v *visibility) flags() uint32 {
	return bitOf(flagHidden, v.hidden) | bitOf(flagDeleted, v.deleted) | bitOf(flagExcluded, v.excluded) |
		bitOf(flagPinned, v.pinned) | bitOf(flagReplaced, v.Text != nil)
}

func bitOf(bit uint32, set bool) uint32 {
	if set {
		return bit
	}
	return 0
}

func visibilityOf(flags uint32, omitted int32, m marks) visibility {
	v := visibility{
		hidden: flags&flagHidden != 0, deleted: flags&flagDeleted != 0, excluded: flags&flagExcluded != 0,
		pinned: flags&flagPinned != 0, omitted: omitted, marks: m,
	}
	if flags&flagReplaced != 0 && v.Text == nil { // gob does not distinguish a pointer to "" from nil
		v.Text = new("")
	}
	return v
}

// decodeItems returns the items of a block. Those of encrypted compactions have the form in which they joined, as after
// a load of all lines.
func decodeItems(content []byte, lines *lineref.Source, encrypted []int64) ([]Item, error) {
	var c itemColumns
	if err := snapshot.Decode(content, &c); err != nil {
		return nil, err
	}
	items := make([]Item, len(c.Ordinal))
	for i := range items {
		item := &items[i]
		*item = c.item(int32(i), lines)
		if item.IsPart() && slices.Contains(encrypted, item.ordinal) {
			item.replacedBy = originals
		}
	}
	return items, nil
}

func (c *itemColumns) item(i int32, lines *lineref.Source) Item {
	flags := c.Flags[i]
	ref := lineref.Ref{Line: c.Line[i], Part: c.Part[i], Source: lines}
	if flags&flagNoLine != 0 {
		ref.Source, ref.Raw = nil, c.Raw[i]
	}
	return Item{
		ordinal: c.Ordinal[i], Ref: ref, pair: c.Pair[i], turnID: c.Turns[c.Turn[i]], callID: c.Calls[i],
		role: role(flags & (1<<flagBits - 1)), notice: notice(flags >> flagBits & (1<<noticeBits - 1)),
		decoded: flags&flagDecoded != 0, malformed: flags&flagMalformed != 0,
		message: flags&flagMessage != 0, ofUser: flags&flagOfUser != 0,
		reasoning: flags&flagReasoning != 0, carrier: flags&flagCarrier != 0, encrypted: flags&flagEncrypted != 0,
		native: flags&flagNative != 0, model: c.Model[i], price: c.Price[i], reported: flags&flagReported != 0,
		raw: flags&flagRaw != 0, summary: flags&flagSummary != 0, ofPoint: flags&flagOfPoint != 0,
		size: c.Size[i], images: c.Images[i], userItemID: c.UserItems[i],
		visibility: visibilityOf(flags, c.Omitted[i], c.Marks[i]),
	}
}
