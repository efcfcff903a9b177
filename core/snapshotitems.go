package core

import (
	"encoding/gob"
	"errors"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

// errBlock is that of a block whose columns do not fit each other.
var errBlock = errors.New("a block of the snapshot makes no sense")

// itemColumns are a block of the history's items. Maps go by the place in the block.
type itemColumns struct {
	Ordinal           []int64
	Line, Part, Pair  []int32
	Size, Images, Say []int32
	Flags             []uint32
	// Maker and Price are by place in the block: few items have one.
	Maker map[int32]storedMaker
	Price map[int32]int32
	// Turn is a number of Turns.
	Turn  []int32
	Turns []string
	Calls map[int32]string
	// Texts are those that replace items' own, Raw are those of items that no line has, and
	// Shown the thread items that show them.
	Texts map[int32]string
	Raw   map[int32][]byte
	Shown map[int32]string
}

// storedMaker is a maker.
type storedMaker struct{ Provider, Model string }

// The flags of an item; the lowest bits are its role, those above what it tells.
const (
	flagBits = 2

	flagChecked = 1 << (2*flagBits + iota)
	flagUnsound
	flagMessage
	flagOfUser
	flagSummary
	flagOfPoint
	flagOwn // it is in no line
	flagLatest
	flagHidden
	flagDeleted
	flagExcluded
	flagPinned
	flagReplaced
	flagOutdated
	flagThought
	flagCarries
	flagSealed
	flagNative
	flagBilled
)

func (l *log) writeItems(out *gob.Encoder, first, end int) error {
	c := itemColumns{Calls: map[int32]string{}, Texts: map[int32]string{}, Raw: map[int32][]byte{}, Shown: map[int32]string{}, Maker: map[int32]storedMaker{}, Price: map[int32]int32{}}
	turns := map[string]int32{}
	for place := first; place < end; place++ {
		item := &l.items[place]
		turn, known := turns[item.turnID]
		if !known {
			turn = int32(len(c.Turns))
			turns[item.turnID], c.Turns = turn, append(c.Turns, item.turnID)
		}
		c.Turn = append(c.Turn, turn)
		latest, isCall := l.latest[item.callID]
		if item.thought || item.native {
			m := l.makers[item.maker]
			c.Maker[int32(place-first)] = storedMaker{m.provider, m.model}
		}
		if err := c.add(item, bitOf(flagLatest, isCall && int(latest) == place)); err != nil {
			return err
		}
		if id, shown := l.shownAs[int32(place)]; shown {
			c.Shown[int32(place-first)] = id
		}
	}
	return out.Encode(&c)
}

func (c *itemColumns) add(item *contextItem, flags uint32) error {
	at := int32(len(c.Ordinal))
	c.Ordinal = append(c.Ordinal, item.ordinal)
	c.Line, c.Part, c.Pair = append(c.Line, item.Line), append(c.Part, item.Part), append(c.Pair, item.pair)
	c.Size, c.Images, c.Say = append(c.Size, item.size), append(c.Images, item.images), append(c.Say, item.fate.says)
	c.Flags = append(c.Flags, flags|item.flags())
	if item.price > 0 {
		c.Price[at] = item.price
	}
	if item.callID != "" {
		c.Calls[at] = item.callID
	}
	if item.fate.text != nil {
		c.Texts[at] = *item.fate.text
	}
	if item.Source != nil {
		return nil
	}
	raw, err := protocol.Marshal(item.decoded())
	c.Raw[at] = raw
	return err
}

func (c *contextItem) flags() uint32 {
	return uint32(c.role) | uint32(c.tells)<<flagBits | c.fate.flags() |
		bitOf(flagChecked, c.checked) | bitOf(flagUnsound, c.unsound) | bitOf(flagMessage, c.message) | bitOf(flagOfUser, c.ofUser) |
		bitOf(flagSummary, c.summary) | bitOf(flagOfPoint, c.ofPoint) | bitOf(flagOwn, c.Source == nil) |
		bitOf(flagOutdated, c.outdated) | bitOf(flagThought, c.thought) | bitOf(flagCarries, c.carries) |
		bitOf(flagSealed, c.sealed) | bitOf(flagNative, c.native) | bitOf(flagBilled, c.billed)
}

func (f *fate) flags() uint32 {
	return bitOf(flagHidden, f.hidden) | bitOf(flagDeleted, f.deleted) | bitOf(flagExcluded, f.excluded) |
		bitOf(flagPinned, f.pinned) | bitOf(flagReplaced, f.text != nil)
}

func bitOf(bit uint32, set bool) uint32 {
	if set {
		return bit
	}
	return 0
}

func fateOf(flags uint32, says int32, text string) fate {
	f := fate{
		hidden: flags&flagHidden != 0, deleted: flags&flagDeleted != 0, excluded: flags&flagExcluded != 0,
		pinned: flags&flagPinned != 0, says: says,
	}
	if flags&flagReplaced != 0 {
		f.text = &text
	}
	return f
}

func (l *log) readItems(in *gob.Decoder) error {
	var c itemColumns
	if err := in.Decode(&c); err != nil {
		return err
	}
	n := len(c.Ordinal)
	bad := func(column []int32) bool { return len(column) != n }
	if n == 0 || len(c.Flags) != n || slices.ContainsFunc([][]int32{c.Line, c.Part, c.Pair, c.Size, c.Images, c.Say, c.Turn}, bad) {
		return errBlock
	}
	for i := range int32(n) {
		if int(c.Turn[i]) >= len(c.Turns) {
			return errBlock
		}
		item := c.item(i, l.from)
		if m, made := c.Maker[i]; made {
			item.maker = l.makerOf(maker{m.Provider, m.Model})
		}
		l.addRead(item, c.Flags[i], c.Shown[i])
	}
	return nil
}

func (l *log) addRead(item contextItem, flags uint32, shown string) {
	place := int32(len(l.items))
	if flags&flagLatest != 0 {
		if l.latest == nil {
			l.latest = map[string]int32{}
		}
		l.latest[item.callID] = place
	}
	if shown != "" {
		if l.shownAs == nil {
			l.shownAs = map[int32]string{}
		}
		l.shownAs[place] = shown
	}
	l.items = append(l.items, item)
}

func (c *itemColumns) item(i int32, from *lineref.Source) contextItem {
	flags := c.Flags[i]
	what := lineref.Ref{Line: c.Line[i], Part: c.Part[i], Source: from}
	if flags&flagOwn != 0 {
		what.Source, what.Raw = nil, c.Raw[i]
	}
	const bits = 1<<flagBits - 1
	return contextItem{
		ordinal: c.Ordinal[i], Ref: what, pair: c.Pair[i], turnID: c.Turns[c.Turn[i]], callID: c.Calls[i],
		role: pairRole(flags & bits), tells: subject(flags >> flagBits & bits),
		checked: flags&flagChecked != 0, unsound: flags&flagUnsound != 0,
		message: flags&flagMessage != 0, ofUser: flags&flagOfUser != 0, thought: flags&flagThought != 0, carries: flags&flagCarries != 0,
		sealed: flags&flagSealed != 0, native: flags&flagNative != 0, price: c.Price[i], billed: flags&flagBilled != 0,
		summary: flags&flagSummary != 0, ofPoint: flags&flagOfPoint != 0, outdated: flags&flagOutdated != 0,
		size: c.Size[i], images: c.Images[i], fate: fateOf(flags, c.Say[i], c.Texts[i]),
	}
}
