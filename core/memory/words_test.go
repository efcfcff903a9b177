package memory

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTextsAreTakenApart(t *testing.T) {
	for text, want := range map[string]string{
		"getUserProfile":                  "getuserprofile get user profile",
		"get_user_profile":                "getuserprofile get user profile",
		"get-user-profile":                "getuserprofile get user profile",
		"HTTPServer2":                     "httpserver2 http server",
		"parseURL":                        "parseurl parse url",
		"services/accounts/profile.go":    "services accounts profile go",
		"port 5433":                       "port 5433",
		"v1.2.0":                          "v1 2 0",
		"it's":                            "it s",
		"Größe der Datei":                 "größe der datei",
		"注文番号":                            "注文 文番 番号",
		"番 a":                             "番 a",
		"SO番号12":                          "so 番号 12",
		"--flag _x_ a_":                   "flag x a",
		"\x00\xff,.;":                     "",
		"":                                "",
		"ERR_MODULE_NOT_FOUND":            "errmodulenotfound err module not found",
		strings.Repeat("x", 100) + " end": strings.Repeat("x", 64) + " end",
	} {
		var words []string
		eachWord(text, func(word string) { words = append(words, word) })
		require.Equal(t, want, strings.Join(words, " "), text)
	}
}

func TestFormsOfAWordAreOneTerm(t *testing.T) {
	for _, forms := range []string{
		"migrate migrates migrated migrating migration migrations", "deploy deploys deployed deploying deployment deployments",
		"configure configured configures configuring configuration", "stop stopped stopping stops", "query queries", "cache cached caches caching",
		"worker workers work", "validate validation validated validates", "panic panics", "lock locks locked locking",
	} {
		words := strings.Fields(forms)
		for _, word := range words[1:] {
			require.Equal(t, stem(words[0]), stem(word), "%s and %s", words[0], word)
		}
	}
	for _, word := range []string{"go", "bus", "class", "sid", "größe", "v2", "注文", "string", "sql"} {
		require.LessOrEqual(t, minStem, max(minStem, len(stem(word))))
		require.NotEmpty(t, stem(word))
	}
	require.Equal(t, "class", stem("class"))
}

func TestQuestionsAreTheirTellingWords(t *testing.T) {
	require.Equal(t, []string{"databas", "port"}, terms("What is the database's port?")[:2])
	require.Equal(t, []string{"what", "is", "it"}, terms("what is it"))
	require.Equal(t, []string{"port"}, terms("port PORT ports, Port!"))
	require.Empty(t, terms("?!"))
	require.Len(t, terms(strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyzäöüéèàçñøåßμλπ", ""), "2 ")), maxTerms)
}

func TestRowsHaveIDs(t *testing.T) {
	r := Row{RepoKey: "/r", Kind: Summary, TS: 1, Title: "a", Text: "b"}
	require.Len(t, r.ID(), 2*idBytes)
	same := r
	same.MsgIDs = []string{}
	require.Equal(t, r.ID(), same.ID())
	for _, other := range []Row{{Kind: Summary, TS: 1, Title: "a", Text: "b"}, {RepoKey: "/r", Kind: Summary, TS: 2, Title: "a", Text: "b"}, {RepoKey: "/r", Kind: Summary, TS: 1, Title: "ab"}} {
		require.NotEqual(t, r.ID(), other.ID())
	}
	r.Kind = Code
	later := r
	later.TS = 2
	require.Equal(t, r.ID(), later.ID())
}

func FuzzWords(f *testing.F) {
	f.Add("getUserProfile 注文番号 \"NEAR(\" \x00\xff a_-b")
	f.Fuzz(func(t *testing.T, text string) {
		eachWord(text, func(word string) {
			if word == "" || len(word) > maxWord || !utf8.ValidString(word) || strings.ContainsAny(word, " \t\n\x00\"'*(){}:^+-_") {
				t.Errorf("%q gives %q", text, word)
			}
		})
		if n := len(terms(text)); n > maxTerms {
			t.Errorf("%d terms", n)
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"repo_key":"/r","session_id":"s","ts":1,"kind":"summary","title":"a","text":"b","msg_ids":["m"]}`))
	f.Add([]byte(`{"forget":["a"]}`))
	f.Add([]byte(`{"repo_key":"\ud800","kind":"k","text":"\u0000","msg_ids":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, ok := parseLine(raw)
		if !ok || l.forget != nil {
			return
		}
		again, err := format([]Row{l.row})
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(again), "\n"))
		require.True(t, json.Valid(again))
		second, ok := parseLine(again)
		require.True(t, ok)
		require.Equal(t, l.row, second.row)
		require.Equal(t, l.row.ID(), second.row.ID())
	})
}
