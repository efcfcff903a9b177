package house

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model/refusal"
	"appserver/test/apptest"
)

// TestDocsRefusalsAreComplete looks for each part that providers refuse in the table of docs/providers.md.
func TestDocsRefusalsAreComplete(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(apptest.Root(), "docs/providers.md"))
	require.NoError(t, err)
	for _, kind := range refusal.Kinds() {
		told := "client"
		if kind.Quiet {
			told = "log"
		}
		require.Regexp(t, `(?m)^\| `+kind.Part+`\b.* \| `+told+` \|$`, string(doc))
	}
}
