package tool

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core"
)

// FuzzDecode: the text does not depend on how the bytes are split.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\xffb\xe2\x82\xac\xe2\x82"), uint8(1))
	f.Add([]byte("\xf0\x9f\x98\x80\xf0\x9f\x98\xed\xa0\x80\x80"), uint8(2))
	f.Fuzz(func(t *testing.T, input []byte, step uint8) {
		var text strings.Builder
		var held []byte
		for rest := input; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			piece, left := decode(append(held, rest[:n]...), false)
			require.True(t, utf8.ValidString(piece))
			require.Less(t, len(left), utf8.UTFMax)
			text.WriteString(piece)
			held, rest = append([]byte(nil), left...), rest[n:]
		}
		piece, left := decode(held, true)
		require.Empty(t, left)
		require.Equal(t, string([]rune(string(input))), text.String()+piece)
	})
}

func TestEnvironment(t *testing.T) {
	home := []string{}
	if named(coreNames, "HOME") { // not on Windows
		home = []string{"HOME=/root"}
	}
	base := BaseEnv([]string{
		"PATH=/bin", "HOME=/root", "LANG=C", "EMPTY=", "WITH=a=b", "PAGER=less", "TERM=xterm", "COLORTERM=truecolor",
		"OPENAI_API_KEY=1", "my_secret=2", "GH_TOKEN=3", "DbPassword=4", "PGPASSWD=5", "AWS_CREDENTIALS=6",
		"SSH_PASSPHRASE=7",
		"APPSERVER_LOG=8", "CODEX_HOME=9", "NAMED=10", "NAMED_NOT=11", "MONKEYS=12", "broken", "=broken",
	}, "NAMED", "ABSENT")
	secrets := []string{"OPENAI_API_KEY=1", "my_secret=2", "GH_TOKEN=3", "DbPassword=4", "PGPASSWD=5", "AWS_CREDENTIALS=6",
		"SSH_PASSPHRASE=7", "NAMED_NOT=11", "MONKEYS=12"}
	var names []string
	for _, entry := range secrets {
		if name, _, _ := strings.Cut(entry, "="); name != "NAMED_NOT" {
			names = append(names, name)
		}
	}
	for _, c := range []struct {
		name   string
		policy core.EnvironmentPolicy
		want   []string
	}{
		{"default", core.EnvironmentPolicy{},
			[]string{"PATH=/bin", "HOME=/root", "LANG=C", "EMPTY=", "WITH=a=b", "NAMED_NOT=11"}},
		{"all", core.EnvironmentPolicy{Inherit: core.InheritAll, KeepSecrets: true},
			append([]string{"PATH=/bin", "HOME=/root", "LANG=C", "EMPTY=", "WITH=a=b"}, secrets...)},
		{"core", core.EnvironmentPolicy{Inherit: core.InheritCore, KeepSecrets: true},
			slices.Concat([]string{"PATH=/bin"}, home, []string{"LANG=C"})},
		{"none", core.EnvironmentPolicy{Inherit: core.InheritNone}, nil},
		{"exclude in any case", core.EnvironmentPolicy{Exclude: []string{"l?ng", "*e"}},
			[]string{"PATH=/bin", "EMPTY=", "WITH=a=b", "NAMED_NOT=11"}},
		{"patterns are not regular expressions", core.EnvironmentPolicy{Exclude: []string{"[A-Z]*", ".*", "P"}},
			[]string{"PATH=/bin", "HOME=/root", "LANG=C", "EMPTY=", "WITH=a=b", "NAMED_NOT=11"}},
		{"set", core.EnvironmentPolicy{Inherit: core.InheritCore, Exclude: []string{"A"},
			Set: map[string]string{"PATH": "$HOME/bin", "A": "", "MY_TOKEN": "mine", "": "x", "B=C": "x", "TERM": "xterm"}},
			slices.Concat(home, []string{"LANG=C", "A=", "MY_TOKEN=mine", "PATH=$HOME/bin"})},
		{"include only", core.EnvironmentPolicy{Set: map[string]string{"A": "1", "B": "2"},
			IncludeOnly: []string{"a", "p*", "GH_TOKEN"}}, []string{"PATH=/bin", "A=1"}},
	} {
		require.Equal(t, append(c.want, "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat"),
			environment(base, names, c.policy), c.name)
	}
}
