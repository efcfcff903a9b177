package model

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"appserver/core"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

func TestSplitDeltasLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "longer", " ", "\n", "é", "  ", "\n\n"})).Draw(t, "text"), "")
		deltas := splitDeltas(text)
		require.Equal(t, text, strings.Join(deltas, ""))
		require.LessOrEqual(t, len(deltas), maxDeltas+1)
		for i, d := range deltas {
			require.NotEmpty(t, d)
			if i < len(deltas)-1 {
				require.Contains(t, " \n", d[len(d)-1:], "words stay whole")
			}
		}
	})
}

func TestDurationsStayInBounds(t *testing.T) {
	require.Equal(t, 1500*time.Millisecond, duration(1.5, time.Second))
	for _, n := range []float64{0, -1, math.Inf(-1), math.NaN()} {
		require.Zero(t, duration(n, time.Second))
	}
	for _, n := range []float64{1e18, math.MaxFloat64, math.Inf(1)} {
		require.Equal(t, time.Duration(math.MaxInt64), duration(n, time.Second))
	}
}

func TestExcerpt(t *testing.T) {
	require.Equal(t, "äöü", excerpt("äöü", 3))
	require.Equal(t, "äö…", excerpt("äöü", 2))
	require.Empty(t, excerpt("", 0))
}

func TestCommentsForEverWithoutAPause(t *testing.T) {
	o := NewOpenAI(Endpoint{BaseURL: "http://memory", IdleTimeout: 20 * time.Millisecond, Transport: endlessComments{}})
	_, err := o.attempt(t.Context(), &core.Prompt{}, nil)
	require.ErrorContains(t, err, "nothing came for")
}

// endlessComments answers with keep-alive comments and nothing else.
type endlessComments struct{}

func (endlessComments) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(endlessComments{})}, nil
}

func (endlessComments) Read(p []byte) (int, error) { return copy(p, ": ping\n"), nil }
