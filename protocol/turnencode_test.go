package protocol_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// streamer is a response that is encoded in parts.
type streamer interface {
	StoredSize() int
	AppendParts(b []byte, flush protocol.Flush) ([]byte, error)
}

// storedText is an item whose text is read when it is encoded, or an error.
type storedText struct {
	text     string
	err      error
	released *int
}

// ItemID returns an id.
func (storedText) ItemID() string { return "i" }

// AppendJSON appends a plan.
func (s storedText) AppendJSON(b []byte) ([]byte, error) {
	if s.err != nil {
		return append(b, "half"...), s.err
	}
	text, err := protocol.Marshal(protocol.ThreadItem{ThreadItemVariant: &protocol.PlanItem{ID: "i", Text: s.text}})
	return append(b, text...), err
}

// Release counts the calls.
func (s storedText) Release() { *s.released++ }

// joined flushes parts into a text.
func joined(text *strings.Builder, parts *int) protocol.Flush {
	return func(b []byte) ([]byte, error) {
		*parts++
		text.Write(b)
		return b[:0], nil
	}
}

func TestTheEncodingInPartsIsThatOfMarshal(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[protocol.ThreadReadResponse](),
		reflect.TypeFor[protocol.ThreadResumeResponse](), reflect.TypeFor[protocol.ThreadForkResponse](),
		reflect.TypeFor[protocol.ThreadRollbackResponse]()} {
		sample.Check(t, func(t *rapid.T) {
			v := builder{drawn{t}}.value(of).Interface()
			want, err := protocol.Marshal(v)
			require.NoError(t, err)
			got, err := v.(streamer).AppendParts([]byte("before "), nil)
			require.NoError(t, err)
			require.Equal(t, "before "+string(want), string(got))
			require.Zero(t, v.(streamer).StoredSize())
		})
	}
}

func responseOf(items ...protocol.ThreadItemVariant) protocol.ThreadReadResponse {
	r := protocol.ThreadReadResponse{}
	r.Thread.Source, r.Thread.Status.ThreadStatusVariant = []byte(`"cli"`), &protocol.StatusNotLoaded{}
	for _, item := range items {
		r.Thread.Turns = append(r.Thread.Turns, protocol.Turn{ID: "t", ItemsView: protocol.ItemsFull,
			Items: []protocol.ThreadItem{{ThreadItemVariant: item}}})
	}
	return r
}

func TestALongResponseIsFlushedInParts(t *testing.T) {
	var text strings.Builder
	var parts, released int
	long := storedText{text: strings.Repeat("x", 200<<10), released: &released}
	r := responseOf(long, long, long, long)
	require.Positive(t, r.StoredSize())
	want, err := protocol.Marshal(r)
	require.NoError(t, err)
	rest, err := r.AppendParts(nil, joined(&text, &parts))
	require.NoError(t, err)
	require.Equal(t, string(want), text.String()+string(rest))
	require.Equal(t, 2, parts)
	require.Equal(t, 1, released)
}

func TestAnItemThatCannotBeReadIsAnErrorBeforeTheFirstPart(t *testing.T) {
	var text strings.Builder
	var parts, released int
	cause := errors.New("the disk failed")
	_, err := responseOf(storedText{text: "a", released: &released}, storedText{err: cause, released: &released}).
		AppendParts(nil, joined(&text, &parts))
	require.ErrorIs(t, err, cause)
	var unread *protocol.UnreadError
	require.NotErrorAs(t, err, &unread)
	require.Zero(t, parts)
	require.Equal(t, 1, released)
}

func TestAnItemThatCannotBeReadIsLeftOutAfterTheFirstPart(t *testing.T) {
	var text strings.Builder
	var parts, released int
	cause := errors.New("the disk failed")
	long := storedText{text: strings.Repeat("x", 300<<10), released: &released}
	lost := storedText{err: cause, released: &released}
	rest, err := responseOf(long, lost, long).AppendParts(nil, joined(&text, &parts))
	var unread *protocol.UnreadError
	require.ErrorAs(t, err, &unread)
	require.ErrorIs(t, err, cause)
	turns := gjson.Get(text.String()+string(rest), "thread.turns")
	require.Equal(t, `["full","notLoaded","full"]`, turns.Get("#.itemsView").Raw)
	require.Equal(t, `[1,0,1]`, turns.Get("#.items.#").Raw)
}

func TestAFailedFlushEndsTheEncoding(t *testing.T) {
	var released int
	cause := errors.New("the client has gone")
	long := storedText{text: strings.Repeat("x", 300<<10), released: &released}
	flushes := 0
	_, err := responseOf(long, long).AppendParts(nil, func(b []byte) ([]byte, error) {
		flushes++
		return b[:0], cause
	})
	require.ErrorIs(t, err, cause)
	require.Equal(t, 1, flushes)
	require.Equal(t, 1, released)
}
