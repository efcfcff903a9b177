package protocol

import "github.com/tidwall/gjson"

// Responses with all turns of a thread can be larger than memory. Their items can be StoredItems, which
// are read when the response is sent, and the encoder makes the response in parts.

// StoredItem is an item that is read from a file when it is encoded. Each response has its own, and
// another goroutine may encode it.
type StoredItem interface {
	ThreadItemVariant
	// AppendJSON appends the encoding of a ThreadItem with the variant, in well-formed JSON.
	AppendJSON(b []byte) ([]byte, error)
	// Release closes the file, which all items of a response share.
	Release()
}

// Flush sends the parts of a response that were encoded so far, and returns a buffer for the next ones.
type Flush func(b []byte) ([]byte, error)

// partSize is the length of a part of a response above which it is sent, in bytes.
const partSize = 256 << 10

// UnreadError is the error of items that cannot be read any more, after a part of their response was
// sent, or after their request has changed a thread. The response has the turns of these items with
// fewer items, and the items view notLoaded.
type UnreadError struct{ Err error }

// Error returns a message with the cause.
func (e *UnreadError) Error() string { return "a response lacks items: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadError) Unwrap() error { return e.Err }

func takeTurns(t *Thread) []Turn {
	turns := t.Turns
	t.Turns = []Turn{}
	return turns
}

// storedItem returns one of the stored items, or nil.
func storedItem(turns []Turn) StoredItem {
	for i := range turns {
		for _, item := range turns[i].Items {
			if stored, ok := item.ThreadItemVariant.(StoredItem); ok {
				return stored
			}
		}
	}
	return nil
}

func storedSize(turns []Turn) (size int) {
	const turnSize, itemSize = 256, 128
	if storedItem(turns) == nil {
		return 0
	}
	for i := range turns {
		size += turnSize + itemSize*len(turns[i].Items)
	}
	return size
}

// appendAround appends a response whose thread has no turns, with these turns in their place.
func appendAround(b []byte, response any, turns []Turn, flush Flush) ([]byte, error) {
	return appendTurns(response, turns, &partWriter{b: b, flush: flush})
}

// appendChanged appends the response to a request that has changed a thread durably. An error does not replace
// it, because the client would repeat the request.
func appendChanged(b []byte, response any, turns []Turn, flush Flush) ([]byte, error) {
	return appendTurns(response, turns, &partWriter{b: b, flush: flush, isFinal: true})
}

func appendTurns(response any, turns []Turn, p *partWriter) ([]byte, error) {
	if stored := storedItem(turns); stored != nil {
		defer stored.Release()
	}
	around, err := Marshal(response)
	if err != nil {
		return p.b, err
	}
	at := gjson.GetBytes(around, "thread.turns").Index + len("[")
	p.b = append(p.b, around[:at]...)
	for i := range turns {
		if i > 0 {
			p.b = append(p.b, ',')
		}
		if err := p.turn(&turns[i]); err != nil {
			return p.b, err
		}
	}
	p.b = append(p.b, around[at:]...)
	if p.unread != nil {
		return p.b, &UnreadError{p.unread}
	}
	return p.b, nil
}

// partWriter appends turns to b.
type partWriter struct {
	b     []byte
	flush Flush
	// isFinal is set after a part was sent. An error does not replace the response then.
	isFinal bool
	// unread is the first error of an item after that.
	unread error
}

func (p *partWriter) turn(t *Turn) error {
	p.b = AppendString(append(p.b, `{"id":`...), t.ID)
	p.b = appendText(append(p.b, `,"rootTurnId":`...), t.RootTurnID)
	p.b = append(p.b, `,"items":[`...)
	view := t.ItemsView
	for i := range t.Items {
		before := len(p.b)
		if i > 0 {
			p.b = append(p.b, ',')
		}
		if err := p.item(&t.Items[i]); err != nil {
			if !p.isFinal {
				return err
			}
			p.b, p.unread, view = p.b[:before], err, ItemsNotLoaded
			break
		}
		if err := p.sendIfLarge(); err != nil {
			return err
		}
	}
	p.b = AppendString(append(p.b, `],"itemsView":`...), view)
	p.b = AppendString(append(p.b, `,"status":`...), string(t.Status))
	p.b = append(p.b, `,"error":`...)
	if t.Error == nil {
		p.b = append(p.b, "null"...)
	} else if err := p.value(t.Error); err != nil {
		return err
	}
	p.b = appendIntOrNull(append(p.b, `,"startedAt":`...), t.StartedAt)
	p.b = appendIntOrNull(append(p.b, `,"completedAt":`...), t.CompletedAt)
	p.b = appendIntOrNull(append(p.b, `,"durationMs":`...), t.DurationMs)
	p.b = append(p.b, '}')
	return p.sendIfLarge()
}

func (p *partWriter) item(item *ThreadItem) (err error) {
	stored, ok := item.ThreadItemVariant.(StoredItem)
	if !ok {
		return p.value(item)
	}
	p.b, err = stored.AppendJSON(p.b)
	return err
}

func (p *partWriter) value(v any) error {
	text, err := Marshal(v)
	p.b = append(p.b, text...)
	return err
}

func (p *partWriter) sendIfLarge() (err error) {
	if len(p.b) < partSize {
		return nil
	}
	p.isFinal = true
	p.b, err = p.flush(p.b)
	return err
}

func appendIntOrNull(b []byte, n *int64) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return appendInt(b, *n)
}
