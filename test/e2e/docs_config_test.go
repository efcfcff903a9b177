package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
	"appserver/test/apptest"
)

var configBlocks = regexp.MustCompile("(?s)```(toml|yaml)\n(.*?)```")

// TestDocumentedConfigurationsAreValid loads each configuration in the documents. Every key is
// known and has an effect.
func TestDocumentedConfigurationsAreValid(t *testing.T) {
	paths, err := filepath.Glob(apptest.Root("docs/*.md"))
	require.NoError(t, err)
	shown := 0
	for _, path := range append(paths, apptest.Root("README.md")) {
		doc, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, block := range configBlocks.FindAllStringSubmatch(string(doc), -1) {
			shown++
			home := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(home, "config."+block[1]), []byte(block[2]), 0o600))
			c, err := config.Load(config.Source{Home: home, Getenv: func(string) string { return "" }})
			require.NoError(t, err, "%s:\n%s", path, block[2])
			require.Empty(t, c.Warnings, "%s:\n%s", path, block[2])
		}
	}
	require.Greater(t, shown, 20)
}
