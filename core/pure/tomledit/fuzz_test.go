package tomledit_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"appserver/core/pure/tomledit"
)

// FuzzApply edits any document at any path. A document that can be read is read again with
// the value in it, or there is an error; and taking the value out leaves no trace of it.
func FuzzApply(f *testing.F) {
	for _, text := range []string{
		before, "", "a = 1", "[a]\nb = 1\n[a.c]\nd = 2\n", "a.b.c = 1\na.b.d = 2\n", "a = { b = { c = 1 } }\n",
		"[[a]]\nb = 1\n[[a]]\nb = 2\n",
		"\"a\".'b' = '''x\ny'''\n", "a = [\n  1, # one\n  { b = 2 },\n]\r\n[b]\r\n", "# c\n\n[ a . b ] # d\nx = 1e3\n",
		"a = 1979-05-27T07:32:00Z\n",
	} {
		f.Add([]byte(text), "a.b", "x", true)
		f.Add([]byte(text), "a", "", false)
	}
	f.Fuzz(func(t *testing.T, text []byte, path, value string, asTable bool) {
		if toml.Unmarshal(text, &table{}) != nil {
			return
		}
		e := tomledit.Edit{Path: strings.Split(path, "."), Value: value}
		if asTable {
			e.Value, e.Merge = table{"k": value, "t": table{value: int64(1)}}, true
		}
		with, err := tomledit.Apply(bytes.Clone(text), e)
		if err != nil {
			return
		}
		require.NoError(t, toml.Unmarshal(with, &table{}), "%q", with)
		e.Value = nil
		without, err := tomledit.Apply(with, e)
		require.NoError(t, err, "%q", with)
		again, err := tomledit.Apply(without, e)
		require.NoError(t, err)
		require.Equal(t, string(without), string(again), "there was something left to take out")
	})
}
