package cli

import (
	"encoding/json"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersionReportsCommit expects the commit of the build information, or null without it.
func TestVersionReportsCommit(t *testing.T) {
	t.Parallel()
	stamped := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"},
			{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: modified}}}
	}
	b := buildOf(stamped("true"))
	require.Equal(t, []string{"abc", "2026-01-02T03:04:05Z"}, []string{*b.Commit, *b.Time})
	require.True(t, *b.Dirty)
	require.False(t, *buildOf(stamped("false")).Dirty)
	for _, info := range []*debug.BuildInfo{nil, {}} {
		text, err := json.Marshal(buildOf(info))
		require.NoError(t, err)
		require.Contains(t, string(text), `"commit":null,"time":null,"dirty":null`)
	}
}
