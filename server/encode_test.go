package server

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// anyText draws text as models and commands produce it: any bytes, often such that JSON
// escapes.
func anyText() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]string{"\"", "\\", "\x00", "\b\f\n\r\t\x1f\x7f", "<>&", "\u2028\u2029", "\xff",
		"\xe2\x82", "\ufffd", "🙂"})
	return rapid.Map(rapid.SliceOf(rapid.OneOf(odd, rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))),
		func(parts []string) (text string) {
			for _, p := range parts {
				text += p
			}
			return text
		})
}

func TestStringsEqualMarshal(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		want, err := protocol.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(protocol.AppendString(nil, s)))
	})
}

// TestDeltasEqualMarshal compares every kind of delta with encoding/json.
func TestDeltasEqualMarshal(t *testing.T) {
	deltas := 0
	for _, row := range protocol.Notifications() {
		if !reflect.PointerTo(row.Params).Implements(reflect.TypeFor[protocol.Delta]()) {
			continue
		}
		deltas++
		t.Run(row.Method, func(t *testing.T) {
			sample.Check(t, func(t *rapid.T) {
				delta := drawDelta(t, row.Params)
				text := anyText().Draw(t, "text")
				want, err := protocol.Marshal(delta.WithDelta(text))
				require.NoError(t, err)
				e := newEncoder(nil)
				require.NoError(t, e.delta(delta, text))
				require.Equal(t, string(want), string(e.buf))
			})
		})
	}
	require.Equal(t, 5, deltas)
}

// drawDelta returns a delta with all members set.
func drawDelta(t *rapid.T, params reflect.Type) protocol.Delta {
	v := reflect.New(params)
	for i := range params.NumField() {
		switch name := params.Field(i).Name; params.Field(i).Type.Kind() {
		case reflect.String:
			v.Elem().Field(i).SetString(anyText().Draw(t, name))
		case reflect.Int:
			v.Elem().Field(i).SetInt(rapid.Int64().Draw(t, name))
		default:
			t.Fatalf("%s is of a kind that the test does not know", name)
		}
	}
	return v.Interface().(protocol.Delta)
}

// customDelta is a delta without a fast path in the encoder.
type customDelta struct {
	Delta string `json:"d"`
}

func (customDelta) NotificationMethod() string           { return "custom/delta" }
func (customDelta) DeltaKey() protocol.DeltaKey          { return protocol.DeltaKey{Method: "custom/delta"} }
func (d customDelta) DeltaText() string                  { return d.Delta }
func (customDelta) WithDelta(text string) protocol.Delta { return customDelta{text} }

func TestUnknownDelta(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.server.Notify(1, customDelta{"<1>"})
		require.Equal(t, []string{`{"jsonrpc":"2.0","method":"custom/delta","params":{"d":"<1>"},` +
			`"emittedAtMs":946684800000}`}, p.hear())
	})
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no") }
func (panicking) NotificationMethod() string   { return "panicking" }

// TestUnencodableNotification checks that only the notification itself is lost.
func TestUnencodableNotification(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.server.Notify(1, protocol.WarningNotification{Message: "1"})
		p.server.Notify(1, panicking{})
		p.server.Notify(1, protocol.WarningNotification{Message: "2"})
		require.Equal(t, []string{
			`{"jsonrpc":"2.0","method":"warning","params":{"threadId":null,"message":"1"},"emittedAtMs":946684800000}`,
			`{"jsonrpc":"2.0","method":"warning","params":{"threadId":null,"message":"2"},"emittedAtMs":946684800000}`,
		}, p.hear())
		require.Equal(t, 1, p.logged("message not sent"))
	})
}

func TestEncoderKeepsNoGiantBuffer(t *testing.T) {
	e := newEncoder(nil)
	require.NoError(t, e.value(string(make([]byte, 2*maxRetainedBuffer))))
	e.reset()
	require.Zero(t, cap(e.buf))
	require.NoError(t, e.value(1))
	require.Equal(t, "1", string(e.buf))
}
