package account

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestLimitsOfHeaders(t *testing.T) {
	require.Empty(t, LimitsOf(headers("Content-Type", "text/event-stream")))
	require.Empty(t, LimitsOf(headers("x-codex-primary-used-percent", "0")), "no limit is known")
	require.Empty(t, LimitsOf(headers("x-codex-primary-used-percent", "many")))
	limits := LimitsOf(headers("x-codex-primary-used-percent", "99.6", "x-codex-secondary-used-percent", "-5",
		"x-codex-secondary-window-minutes", "10080", "x-two-words-primary-used-percent", "1e300",
		"x-two-words-limit-name", "Two \x1b[31mWords"))
	require.Len(t, limits, 2)
	require.Equal(t, "codex", *limits[0].LimitID)
	require.Equal(t, int32(100), limits[0].Primary.UsedPercent)
	require.Zero(t, limits[0].Secondary.UsedPercent)
	require.Equal(t, int64(10080), *limits[0].Secondary.WindowDurationMins)
	require.Equal(t, "two_words", *limits[1].LimitID)
	require.Equal(t, "Two Words", *limits[1].LimitName)
	many := http.Header{}
	for i := range 1000 {
		many.Set("x-"+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))+"-primary-used-percent", "1")
	}
	require.LessOrEqual(t, len(LimitsOf(many)), maxLimits)
}

// FuzzParse reads any text as auth.json: it fails, or what it writes is read again as the same login.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{}`, `{"OPENAI_API_KEY":"k","x":1}`, `{"auth_mode":"chatgpt","tokens":{"access_token":"a","more":[1]}}`,
		`{"tokens":null,"last_refresh":"2026-11-28T09:04:21Z"}`, `[]`, `{"tokens":{"oauth_provenance":{"issuer":"i"}}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parse([]byte(text))
		if err != nil {
			return
		}
		readClaims(l.Tokens.ID)
		written, err := l.encode()
		if err != nil {
			return
		}
		again, err := parse(written)
		require.NoError(t, err, "%s", written)
		require.Equal(t, l.Mode, again.Mode)
		require.Equal(t, l.APIKey, again.APIKey)
		if l.Mode == ChatGPT {
			require.Equal(t, l.Tokens, again.Tokens)
		}
	})
}
