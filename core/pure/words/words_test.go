package words

import (
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
		"サーバー":                            "サー ーバ バー",
		"ພາສາ v2":                         "ພາ າສ ສາ v2",
		"SO番号12":                          "so 番号 12",
		"--flag _x_ a_":                   "flag x a",
		"\x00\xff,.;":                     "",
		"":                                "",
		"ERR_MODULE_NOT_FOUND":            "errmodulenotfound err module not found",
		strings.Repeat("x", 100) + " end": strings.Repeat("x", 64) + " end",
	} {
		var words []string
		Each(text, func(word string) { words = append(words, word) })
		require.Equal(t, want, strings.Join(words, " "), text)
	}
}

func TestFormsOfAWordAreOneTerm(t *testing.T) {
	for _, forms := range []string{
		"migrate migrates migrated migrating migration migrations",
		"deploy deploys deployed deploying deployment deployments",
		"configure configured configures configuring configuration", "stop stopped stopping stops", "query queries",
		"cache cached caches caching",
		"worker workers work", "validate validation validated validates", "panic panics", "lock locks locked locking",
	} {
		words := strings.Fields(forms)
		for _, word := range words[1:] {
			require.Equal(t, Stem(words[0]), Stem(word), "%s and %s", words[0], word)
		}
	}
	for _, word := range []string{"go", "bus", "class", "sid", "größe", "v2", "注文", "string", "sql"} {
		require.LessOrEqual(t, minStem, max(minStem, len(Stem(word))))
		require.NotEmpty(t, Stem(word))
	}
	require.Equal(t, "class", Stem("class"))
}

func TestQuestionsAreTheirTellingWords(t *testing.T) {
	require.Equal(t, []string{"databas", "port"}, Terms("What is the database's port?")[:2])
	require.Equal(t, []string{"what", "is", "it"}, Terms("what is it"))
	require.Equal(t, []string{"port"}, Terms("port PORT ports, Port!"))
	require.Empty(t, Terms("?!"))
	require.Len(t, Terms(strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyzäöüéèàçñøåßμλπ", ""), "2 ")), maxTerms)
}

func FuzzWords(f *testing.F) {
	f.Add("getUserProfile 注文番号 \"NEAR(\" \x00\xff a_-b")
	f.Fuzz(func(t *testing.T, text string) {
		Each(text, func(word string) {
			if word == "" || len(word) > maxWord || !utf8.ValidString(word) ||
				strings.ContainsAny(word, " \t\n\x00\"'*(){}:^+-_") {
				t.Errorf("%q gives %q", text, word)
			}
		})
		if n := len(Terms(text)); n > maxTerms {
			t.Errorf("%d terms", n)
		}
	})
}
