package transcript

import (
	"encoding/json"

	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// storedItem is an item of a response, which is read when the response is sent.
type storedItem struct {
	Item
	*responseLines
}

// responseLines reads and encodes the stored items of one response.
type responseLines struct {
	from   *lineref.Detached
	writer itemWriter
}

// ForResponse returns a function that returns items as clients see them. An item that can be read again
// is a protocol.StoredItem, which is independent of the transcript.
func ForResponse() func(r *Item) protocol.ThreadItem {
	var (
		detacher lineref.Detacher
		lines    responseLines
	)
	return func(r *Item) protocol.ThreadItem {
		if r.Raw == nil && r.item.ThreadItemVariant == nil {
			if from := detacher.Of(r.Source); from != nil {
				lines.from = from
				return protocol.ThreadItem{ThreadItemVariant: &storedItem{*r, &lines}}
			}
		}
		return r.ThreadItem()
	}
}

// ItemID returns the id of the item, or "" if the item cannot be read.
func (s *storedItem) ItemID() string {
	if s.number != None {
		return numberedID(s.number)
	}
	raw, err := s.from.Payload(&s.Ref)
	if err != nil {
		return ""
	}
	return s.decode(raw, s.part).ItemID()
}

// AppendJSON appends what protocol.Marshal writes for the item. A string may have other escapes. The error of an
// item that cannot be read is a *protocol.Error.
func (s *storedItem) AppendJSON(b []byte) ([]byte, error) {
	raw, err := s.from.Payload(&s.Ref)
	if err != nil {
		return b, protocol.Internal(protocol.KindStorage, "%v", err)
	}
	if s.number == None {
		if out, ok := s.writer.appendItem(b, raw); ok {
			return out, nil
		}
	}
	text, err := protocol.Marshal(s.decode(raw, s.part))
	return append(b, text...), err
}

// Release closes the files of all items of the response.
func (s *storedItem) Release() { s.from.Release() }

func (s *storedItem) part(ref *lineref.Ref) json.RawMessage {
	raw, _ := s.from.Payload(ref) // the text of an unreadable part is empty
	return raw
}
