//go:build reference

package interchange

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestReferenceRanksFiles compares the expected ranks of other tests with those of the reference.
func TestReferenceRanksFiles(t *testing.T) {
	x := newInterchange(t)
	root := apptest.FindTree(t)
	queries, ranks := apptest.FindRanks(t)
	c := x.reference()
	for _, query := range queries {
		found := c.Call("fuzzyFileSearch", apptest.Object{"query": query, "roots": []string{root}})
		require.Equal(t, ranks[query], apptest.RankLines(found), "%q", query)
	}
	c.Close()
}
