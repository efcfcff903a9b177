package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// only returns the one simple command of a script.
func only(t *testing.T, script string) (call, bool) {
	t.Helper()
	file, ok := parse(script)
	require.True(t, ok, script)
	found, ok := calls(script, file)
	if !ok {
		return call{}, false
	}
	require.Len(t, found, 1, script)
	return found[0], true
}

func TestWordsAreWhatTheProgramGets(t *testing.T) {
	for source, want := range map[string]word{
		`a`:            {"a", false},
		`'a b'`:        {"a b", false},
		`"a b"`:        {"a b", false},
		`a\ b`:         {"a b", false},
		`a'b'"c"\-`:    {"abc-", false},
		`'a\b'`:        {`a\b`, false},
		`"a\b"`:        {`a\b`, false},
		`"a\\\"\$b"`:   {`a\"$b`, false},
		"\"a\\`b\"":    {"a`b", true},
		"a\\\nb":       {"ab", false},
		"\"a\\\nb\"":   {"ab", false},
		`''`:           {"", false},
		`""`:           {"", false},
		`é\é`:          {"éé", false},
		`\*\?\[\{`:     {"*?[{", false},
		`'*?[{'`:       {"*?[{", false},
		`"*?[{"`:       {"*?[{", false},
		`a=b`:          {"a=b", false},
		`a^b`:          {"a^b", false},
		`'=a'`:         {"=a", false},
		`a$`:           {"a$", false},
		`"a$"`:         {"a$", false},
		`*`:            {"*", true},
		`a?`:           {"a?", true},
		`[a]`:          {"[a]", true},
		`{a,b}`:        {"{a,b}", true},
		`=a`:           {"=a", true},
		`^a`:           {"^a", true},
		`"a$"b`:        {"a$b", false},
		`a$%b`:         {"a$%b", true},
		`"$%"`:         {"$%", true},
		`'a\'`:         {`a\`, true},
		`'a\\'`:        {`a\\`, true},
		`'a''b'`:       {"ab", true},
		`a\x2d`:        {"ax2d", true},
		`~`:            {"~", false},
		`~/a`:          {"~/a", false},
		`~sys`:         {"~sys", true},
		`~+`:           {"~+", true},
		`a=~`:          {"a=~", true},
		`%self`:        {"%self", true},
		`%s`:           {"%s", false},
		`"it's" 'x"y'`: {"it's", false},
	} {
		found, ok := only(t, "x "+source)
		require.True(t, ok, source)
		require.Equal(t, want, found.args[1], source)
	}
}

func TestWordsWithExpansionsAreNoLiterals(t *testing.T) {
	for _, source := range []string{
		"$a", "${a}", `"$a"`, "$(a)", "`a`", `"$(a)"`, "$((1))", "$[1]", "<(a)", ">(a)", "$'a'", `$"a"`, "@(a|b)", "a$b",
	} {
		_, ok := only(t, "x "+source)
		require.False(t, ok, source)
	}
}

func TestCallsKnowTheirSourceAndTheirPipe(t *testing.T) {
	script := "a 'b' 2>/dev/null | c d|e && \\\n f; # g\n  h"
	file, ok := parse(script)
	require.True(t, ok)
	found, ok := calls(script, file)
	require.True(t, ok)
	type seen struct {
		source string
		piped  bool
	}
	var all []seen
	for _, c := range found {
		all = append(all, seen{c.source, c.piped})
	}
	require.Equal(t, []seen{{"a 'b'", false}, {"c d", true}, {"e", true}, {"f", false}, {"h", false}}, all)
}

func TestGetopt(t *testing.T) {
	for _, c := range []struct {
		args   []string
		valued string
		want   arguments
	}{
		{nil, "", arguments{}},
		{[]string{"a", "-", "b"}, "", arguments{operands: []string{"a", "-", "b"}}},
		{[]string{"-rn", "a"}, "", arguments{[]flag{{"-r", ""}, {"-n", ""}}, []string{"a"}}},
		{[]string{"-n", "5", "a"}, "-n", arguments{[]flag{{"-n", "5"}}, []string{"a"}}},
		{[]string{"-n5", "a"}, "-n", arguments{[]flag{{"-n", "5"}}, []string{"a"}}},
		{[]string{"-rn", "5", "a"}, "-n", arguments{[]flag{{"-r", ""}, {"-n", "5"}}, []string{"a"}}},
		{[]string{"-n"}, "-n", arguments{flags: []flag{{"-n", ""}}}},
		{[]string{"--max", "5", "a"}, "--max", arguments{[]flag{{"--max", "5"}}, []string{"a"}}},
		{[]string{"--max=5", "a"}, "--max", arguments{[]flag{{"--max", "5"}}, []string{"a"}}},
		{[]string{"--all", "a"}, "--max", arguments{[]flag{{"--all", ""}}, []string{"a"}}},
		{[]string{"--max"}, "--max", arguments{flags: []flag{{"--max", ""}}}},
		{[]string{"a", "-b", "--", "-c", "--"}, "", arguments{[]flag{{"-b", ""}}, []string{"a", "-c", "--"}}},
		{[]string{"-e", "--", "a"}, "-e", arguments{[]flag{{"-e", "--"}}, []string{"a"}}},
		{[]string{"-é"}, "-é", arguments{flags: []flag{{"-\xc3", ""}, {"-\xa9", ""}}}},
	} {
		require.Equal(t, c.want, getopt(c.args, c.valued), "%q", c.args)
	}
	found := getopt([]string{"-i", "-e", "x", "-e", "y"}, "-e")
	require.True(t, found.has("-v", "-i"))
	require.False(t, found.has("-v"))
	value, ok := found.value("--regexp", "-e")
	require.True(t, ok)
	require.Equal(t, "x", value)
	_, ok = found.value("-f")
	require.False(t, ok)
}
