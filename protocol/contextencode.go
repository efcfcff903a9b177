package protocol

import "strconv"

// Lists of context items are long, and sent after every edit. They have an encoder of their own,
// because encoding/json takes several times as long. It flushes parts, so that the client reads the begin
// of a list while its rest is encoded, and all lists share one small buffer.

// itemSize is the approximate size of a ContextItem as JSON without its preview and its marks, in bytes. idSize is
// the size of an id.
const (
	itemSize = 288
	idSize   = 24
)

func sizeOf(items []ContextItem) int {
	n := 2 * itemSize
	for i := range items {
		n += itemSize + len(items[i].Preview) + len(items[i].LongPreview) + items[i].marksSize()
	}
	return n
}

// JSONSize returns the approximate number of bytes that AppendParts appends.
func (n ContextItemsNotification) JSONSize() int { return sizeOf(n.Items) + idSize*len(n.RemovedIDs) }

// AppendParts appends the output of Marshal, and flushes it in parts.
func (n ContextItemsNotification) AppendParts(b []byte, flush Flush) ([]byte, error) {
	b = AppendString(append(b, `{"threadId":`...), n.ThreadID)
	b = appendInt(append(b, `,"revision":`...), n.Revision)
	b = appendInt(append(b, `,"total":`...), int64(n.Total))
	b, err := appendItems(append(b, `,"items":`...), n.Items, flush)
	if err != nil {
		return b, err
	}
	b = append(b, `,"removedIds":[`...)
	for i, id := range n.RemovedIDs {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, id)
	}
	b = strconv.AppendBool(append(b, `],"full":`...), n.Full)
	b, err = appendUsage(append(b, `,"usage":`...), n.Usage)
	return append(b, '}'), err
}

func appendItems(b []byte, items []ContextItem, flush Flush) (_ []byte, err error) {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = items[i].append(b)
		if len(b) < partSize {
			continue
		}
		if b, err = flush(b); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendUsage(b []byte, u ContextUsage) ([]byte, error) {
	raw, err := marshal(u)
	return append(b, raw...), err
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendText appends a string, or null.
func appendText(b []byte, text *string) []byte {
	if text == nil {
		return append(b, "null"...)
	}
	return AppendString(b, *text)
}
