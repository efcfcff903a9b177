package execrule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/execrule"
	"appserver/core/pure/toolspec"
)

func TestParseReadsPlainRules(t *testing.T) {
	rules, problems := execrule.Parse("/r", []byte(`"""The rules."""
shells = ["sh", "bash"]
prefix_rule(pattern = [shells, "-x"], decision = "forbidden", justification = " No. ", match = [["sh", "-x"]])
prefix_rule(["make"], "prompt")
prefix_rule(pattern = ("ls",))
prefix_rule(pattern = ["ls"])
host_executable(name = "git", paths = ["/usr/bin/git"])
`))
	require.Equal(t, toolspec.CommandRules{
		{Pattern: [][]string{{"sh", "bash"}, {"-x"}}, Decision: toolspec.RuleForbids, Justification: "No.", Source: "/r:3"},
		{Pattern: [][]string{{"make"}}, Decision: toolspec.RulePrompts, Source: "/r:4"},
		{Pattern: [][]string{{"ls"}}, Source: "/r:6"},
	}, rules)
	require.Len(t, problems, 1)
	require.Equal(t, 5, problems[0].Line)
}

// TestParseNamesWhatItDoesNotRead checks that a rule is either read or named.
func TestParseNamesWhatItDoesNotRead(t *testing.T) {
	for _, text := range []string{
		`prefix_rule(pattern = ["a"], decision = D)`, `prefix_rule(pattern = ["a" + "b"], decision = "forbidden")`,
		`prefix_rule(pattern = [], decision = "forbidden")`, `prefix_rule(pattern = [[]], decision = "forbidden")`,
		`prefix_rule(pattern = [["a", 1]], decision = "forbidden")`, `prefix_rule(*["a"])`, `prefix_rule(pattern = "a")`,
		`prefix_rule(decision = "forbidden")`, `prefix_rule(pattern = ["a"], decision = "no")`,
		`prefix_rule(pattern = ["a"], decision = ["forbidden"])`, `load("x", "y")`, `x += ["a"]`, `print("x")`,
		"def f():\n    prefix_rule(pattern = [\"a\"], decision = \"forbidden\")\n", `[prefix_rule(["a"], "forbidden")]`,
		`network_rule(host = "h", protocol = "https", decision = "deny")`, `prefix_rule(`, "\x00",
	} {
		rules, problems := execrule.Parse("/r", []byte(text))
		require.Empty(t, rules, text)
		require.Len(t, problems, 1, text)
		require.Equal(t, 1, problems[0].Line, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`prefix_rule(pattern = ["a", ["b", "c"]], decision = "forbidden", justification = "x")`))
	f.Add([]byte("x = [\"a\"]\nprefix_rule(x, \"prompt\")\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1000 {
			return
		}
		rules, problems := execrule.Parse("/r", text)
		for _, r := range rules {
			require.NotEmpty(t, r.Pattern)
			for _, alternatives := range r.Pattern {
				require.NotEmpty(t, alternatives)
			}
		}
		for _, p := range problems {
			require.Positive(t, p.Line)
		}
	})
}
