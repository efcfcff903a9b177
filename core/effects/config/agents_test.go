package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/config"
)

func TestAgentRules(t *testing.T) {
	rules := func(text string) core.AgentRules {
		return load(t, text).Capabilities("p", "m", core.ListedModel{}).Agents
	}
	require.Equal(t, core.AgentRules{Offered: true, MaxOpen: 6, MaxDepth: 1}, rules(""))
	require.Equal(t, core.AgentRules{Offered: true, MaxOpen: 9, MaxDepth: 3, Model: "m2", Effort: "low", MaxSeconds: 7},
		rules("[agents]\nmax_threads = 9\nmax_depth = 3\ndefault_subagent_model = \"m2\"\n"+
			"default_subagent_reasoning_effort = \"low\"\njob_max_runtime_seconds = 7\n"))
	require.Equal(t, 2, rules("agents.max_concurrent_threads_per_session = 2").MaxOpen)
	require.Equal(t, 2, rules("[agents]\nmax_concurrent_threads_per_session = 2\nmax_threads = 2").MaxOpen)
	for _, off := range []string{"agents.enabled = false", "agents.max_depth = 0", "features.multi_agent = false",
		"agents.enabled = true\nfeatures.multi_agent = false"} {
		require.False(t, rules(off).Offered, off)
	}
}

func TestAgentSettingsThatCannotBeObeyedAreErrors(t *testing.T) {
	for text, problem := range map[string]string{
		"[agents]\nmax_threads = 2\nmax_concurrent_threads_per_session = 3": "agents.max_threads: agents.max_concurrent_threads_per_session",
		"agents.max_threads = 0":               "expected at least 1",
		"agents.max_depth = -1":                "expected at least 0",
		"agents.job_max_runtime_seconds = 0":   "expected at least 1",
		"agents.interrupt_message = 1":         "expected true or false",
		"agents.default_subagent_model = true": "expected a string",
	} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, problem, text)
	}
}

// TestTablesOfAgentsAreRoles keeps the tables for the package that reads roles. Other unknown keys have no effect.
func TestTablesOfAgentsAreRoles(t *testing.T) {
	c := load(t, "[agents]\nother = 1\n[agents.reviewer]\ndescription = 5\n")
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0], "agents.other: unknown key")
	sources := c.RoleSources()
	require.Equal(t, map[string]map[string]any{"reviewer": {"description": int64(5)}}, sources[0].Declared)
	require.Equal(t, filepath.Dir(sources[0].Name), sources[0].Folder)
}
