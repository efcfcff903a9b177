package jsonrepair_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/jsonrepair"
)

// FuzzEscape compares texts with raw control characters with the same texts with escaped ones.
func FuzzEscape(f *testing.F) {
	f.Add("a\nb", `{"x":"\u000a\\"}`)
	f.Add("\\\n\"\x00\x1f\u2028", "{\"a\":\"\\\n\"}")
	f.Fuzz(func(t *testing.T, value, text string) {
		want, err := json.Marshal(map[string]string{"key\n": value})
		require.NoError(t, err)
		raw := want
		for c := range byte(' ') {
			for _, escape := range []string{fmt.Sprintf(`\u%04x`, c),
				map[byte]string{'\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}[c]} {
				if escape != "" && !strings.Contains(value, `\`) {
					raw = bytes.ReplaceAll(raw, []byte(escape), []byte{c})
				}
			}
		}
		require.JSONEq(t, string(want), string(jsonrepair.Escape(raw)))
		if json.Valid([]byte(text)) {
			require.Equal(t, text, string(jsonrepair.Escape([]byte(text))))
		}
	})
}
