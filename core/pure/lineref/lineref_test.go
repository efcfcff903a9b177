package lineref_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/lineref"
)

// disk is lines that can be read, until they are lost.
type disk map[int]string

// Payload returns a line, or nil without one.
func (d disk) Payload(n int) json.RawMessage {
	if d[n] == "" {
		return nil
	}
	return json.RawMessage(d[n])
}

// peekable are lines that are around their payloads.
type peekable struct{ disk }

func (p peekable) Peek(n int) []byte { return []byte("<" + p.disk[n] + ">") }

func TestALookIsAtTextAroundAWholeLine(t *testing.T) {
	source := lineref.NewSource(peekable{disk{1: `{"a":1}`}})
	for want, ref := range map[string]lineref.Ref{
		`<{"a":1}>`: {Source: source, Line: 1, Part: lineref.Whole},
		`{"b":2}`:   {Source: source, Line: 1, Part: lineref.Whole, Raw: json.RawMessage(`{"b":2}`)},
		"":          {Source: source, Line: 1, Part: 0},
	} {
		require.Equal(t, want, string(ref.Peek()))
	}
	unread := lineref.Ref{Source: lineref.NewSource(disk{1: `{"a":1}`}), Line: 1, Part: lineref.Whole}
	require.Nil(t, unread.Peek(), "of lines that are not peekable")
}

func ExampleRef() {
	source := lineref.NewSource(disk{7: `{"type":"message"}`})
	ref := lineref.Ref{Raw: json.RawMessage(`{"type":"message"}`), Source: source, Line: 7, Part: lineref.Whole}
	ref.Evict()
	fmt.Println(ref.Raw == nil)
	raw, read := ref.Payload()
	fmt.Println(string(raw), read)
	// Output:
	// true
	// {"type":"message"} true
}

func TestPartsOfCompactedLinesAreReadAgain(t *testing.T) {
	lines := disk{
		1: `{"message":"s","replacement_history":[{"a":1},{"a":2}]}`,
		2: `{"message":"s","replacement_history":[{"a":3}]}`,
	}
	source := lineref.NewSource(lines)
	for _, c := range []struct {
		line, part int32
		want       string
	}{{1, 0, `{"a":1}`}, {1, 1, `{"a":2}`}, {2, 0, `{"a":3}`}, {1, 1, `{"a":2}`}} {
		ref := lineref.Ref{Source: source, Line: c.line, Part: c.part}
		raw, read := ref.Payload()
		require.True(t, read)
		require.JSONEq(t, c.want, string(raw))
	}
}

func TestALineThatCannotBeReadIsAnEmptyObject(t *testing.T) {
	lines := disk{}
	for name, ref := range map[string]lineref.Ref{
		"line": {Line: 1, Part: lineref.Whole}, "part": {Line: 1, Part: 0},
	} {
		ref.Source = lineref.NewSource(lines)
		raw, read := ref.Payload()
		require.False(t, read, name)
		require.JSONEq(t, `{}`, string(raw), name)
	}
	lines[1] = `{"message":"s","replacement_history":[]}`
	ref := lineref.Ref{Source: lineref.NewSource(lines), Line: 1, Part: 3}
	_, read := ref.Payload()
	require.False(t, read, "a part that the line does not have")
}

func TestWhatNoLineHasStaysInMemory(t *testing.T) {
	ref := lineref.Ref{Raw: json.RawMessage(`{"a":1}`)}
	ref.Evict()
	raw, read := ref.Payload()
	require.True(t, read)
	require.JSONEq(t, `{"a":1}`, string(raw))
}

func TestASourceKnowsItsLines(t *testing.T) {
	one, other := &file{}, &file{}
	require.True(t, lineref.NewSource(one).Reads(one))
	require.False(t, lineref.NewSource(one).Reads(other))
	var none *lineref.Source
	require.False(t, none.Reads(one))
}

type file struct{ _ int }

// Payload returns nil.
func (*file) Payload(int) json.RawMessage { return nil }
