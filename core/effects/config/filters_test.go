package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
)

// TestFiltersAreExcludesAndIncludes reads filters. Those of one layer add to the lists of another one.
func TestFiltersAreExcludesAndIncludes(t *testing.T) {
	c := load(t, "[shell_environment_policy]\nexclude = [\"A\"]\ninclude_only = [\"B*\"]\n",
		`shell_environment_policy.filters={"C*" = "exclude", "D" = "include"}`)
	p := c.Environment()
	require.Equal(t, []string{"A", "C*"}, p.Exclude)
	require.Equal(t, []string{"B*", "D"}, p.IncludeOnly)
}

// TestInvalidFiltersAreRejected covers unknown values, patterns that differ in case only, and filters beside a list.
func TestInvalidFiltersAreRejected(t *testing.T) {
	for text, want := range map[string]string{
		"[shell_environment_policy.filters]\nA = \"hide\"\n":                             "expected include or exclude",
		"[shell_environment_policy.filters]\nA = \"include\"\na = \"exclude\"\n":         "is there twice",
		"[shell_environment_policy]\nexclude = []\nfilters = { A = \"exclude\" }\n":      "cannot be mixed with exclude",
		"[shell_environment_policy]\ninclude_only = []\nfilters = { A = \"exclude\" }\n": "cannot be mixed with include_only",
		"[shell_environment_policy]\nfilters = [\"A\"]\n":                                "filters",
	} {
		home, _ := write(t, "config.toml", text)
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, want, text)
	}
}
