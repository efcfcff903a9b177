package chat

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzStrings holds the shortcut for strings against encoding/json.
func FuzzStrings(f *testing.F) {
	for _, seed := range []string{`"plain"`, `"a\nb"`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `""`, `"\u0000"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if json.Unmarshal(raw, &want) != nil || string(raw) == "null" {
			return
		}
		var got struct {
			Text      text
			Arguments arguments
		}
		require.NoError(t, json.Unmarshal([]byte(`{"text":`+string(raw)+`,"arguments":`+string(raw)+`}`), &got))
		require.Equal(t, want, string(got.Text))
		require.Equal(t, want, string(got.Arguments))
	})
}

func TestMembersOfOtherTypes(t *testing.T) {
	for raw, want := range map[string]struct{ text, arguments string }{
		`null`:                        {"", ""},
		`7`:                           {"", "7"},
		`true`:                        {"", "true"},
		`{"a": 1}`:                    {"", `{"a": 1}`},
		`[]`:                          {"", "[]"},
		`[{"text":"a"},{"text":"b"}]`: {"ab", `[{"text":"a"},{"text":"b"}]`},
		`[{"text":"a"},7,{"x":"b"}]`:  {"a", `[{"text":"a"},7,{"x":"b"}]`},
	} {
		var asText text
		var asArguments arguments
		require.NoError(t, json.Unmarshal([]byte(raw), &asText))
		require.NoError(t, json.Unmarshal([]byte(raw), &asArguments))
		require.Equal(t, want.text, string(asText), raw)
		require.Equal(t, want.arguments, string(asArguments), raw)
	}
}
