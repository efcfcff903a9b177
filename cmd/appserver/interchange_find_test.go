//go:build reference

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReferenceRanksFiles holds the ranks that the tests expect to those of the reference
// implementation.
func TestReferenceRanksFiles(t *testing.T) {
	x := newInterchange(t)
	root := findTree(t)
	queries, ranks := findRanks(t)
	c := x.reference()
	for _, query := range queries {
		found := c.call("fuzzyFileSearch", object{"query": query, "roots": []string{root}})
		require.Equal(t, ranks[query], rankLines(found), "%q", query)
	}
	c.close()
}
