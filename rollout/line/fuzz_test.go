package line

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

var fuzzSeeds = []string{
	"",
	"\n",
	`{"timestamp":"t","ordinal":3,"type":"x","payload":{"a":[1,"b\n"]}}` + "\n" + `{"type":"y","payload":null}` + "\n",
	"\ufeff" + `{"type":"x","payload":1}` + "\r\n\r\n" + `{"type":"x","pay`,
	`{"type":1,"payload":1}` + "\n[]\n{}\n" + `{"type":"x"}` + "\n{{{\n\x00\n",
	`{"payload":{"type":"y"},"payload":2,"\u0074ype":"x","ordinal":9007199254740992}` + "\n" +
		`{"type":"x","payload":1}`,
	`{"type":"event_msg","payload":{"type":"user_message","message":"\ud800"}}` + "\n",
	`{"type":"session_meta","payload":{"id":"a","source":{"x":[`,
	`{"type":"event_msg","payload":{"type":"item_completed",` +
		`"item":{"type":"UserMessage","content":[{"type":"text"}]}}}` + "\n",
}

// content is the content of a file.
type content struct {
	lines  []protocol.RolloutLine
	damage []Damage
	torn   bool
	next   int64
}

// contentOf parses a file with n goroutines.
func contentOf(n int, data []byte) (c content) {
	var ordinals Ordinals
	for _, b := range parseWith(n, data, true) {
		for _, p := range b.Lines {
			p.Ordinal = new(ordinals.Assign(&p))
			c.lines = append(c.lines, p.RolloutLine)
		}
		ordinals.Skip(b.DamagedAfter)
		c.damage = append(c.damage, b.Damage...)
		c.torn = c.torn || b.Torn
	}
	c.next = ordinals.End(c.torn)
	return c
}

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := contentOf(1, data)
		require.Equal(
			t,
			nonBlank(data),
			len(whole.lines)+len(whole.damage)+count(whole.torn),
			"every line is one or the other",
		)
		for _, l := range whole.lines {
			require.True(t, json.Valid(l.Payload), "%q", l.Payload)
			require.GreaterOrEqual(t, *l.Ordinal, int64(0))
			require.Less(t, *l.Ordinal, whole.next)
		}
		for _, d := range whole.damage {
			before := data[:d.Offset]
			require.Equal(t, d.Line, bytes.Count(before, []byte{'\n'})+1)
			require.True(t, len(before) == 0 || before[len(before)-1] == '\n')
		}
		for n := 2; n < 5; n++ {
			require.Equal(t, whole, contentOf(n, data), "with any number of goroutines")
		}
	})
}

// nonBlank counts lines by a simple implementation.
func nonBlank(data []byte) int {
	n := 0
	for i, line := range bytes.Split(data, []byte{'\n'}) {
		if i == 0 {
			line = bytes.TrimPrefix(line, []byte(ByteOrderMark))
		}
		n += count(len(bytes.Trim(line, " \t\r")) > 0)
	}
	return n
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func FuzzValidJSON(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		`-0.1e+5`, `01`, `1.`, `"\u12g4"`, "\"\x01\"", `[1,]`, `{"a":1,}`, ` true `, `nul`, "\"\xff\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		require.Equal(t, json.Valid(b), isJSON(b), "%q", b)
	})
}
