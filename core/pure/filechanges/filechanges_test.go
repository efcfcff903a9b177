package filechanges_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/filechanges"
	"appserver/protocol"
	"appserver/test/sample"
)

// content returns a file with a content, or no file if it is empty.
func content(hash string) protocol.WorktreeFile { return protocol.WorktreeFile{Object: hash} }

func change(path, before, after string) protocol.WorktreeChange {
	return protocol.WorktreeChange{Path: path, Before: content(before), After: content(after)}
}

func changes(root string, list ...protocol.WorktreeChange) protocol.WorktreeChanges {
	return protocol.WorktreeChanges{Root: root, Changes: list}
}

func ExampleNet() {
	net := filechanges.Net([]protocol.WorktreeChanges{
		changes("/repo", change("b", "", "1"), change("a", "1", "2")),
		changes("/repo", change("b", "1", ""), change("a", "2", "3")),
	})
	for _, one := range net[0].Changes {
		fmt.Println(net[0].Root, one.Path, one.Before.Object, "to", one.After.Object)
	}
	// Output: /repo a 1 to 3
}

func TestNetIsSortedWithinEachRoot(t *testing.T) {
	net := filechanges.Net([]protocol.WorktreeChanges{
		changes("/z", change("b", "", "1")), changes("/a", change("x", "", "1")), changes("/z", change("a", "", "1")),
	})
	require.Equal(t, []protocol.WorktreeChanges{
		changes("/z", change("a", "", "1"), change("b", "", "1")), changes("/a", change("x", "", "1")),
	}, net)
	require.Equal(t, []string{"/z", "/a"}, filechanges.Roots(net))
	require.Equal(t, []string{"/z/a", "/z/b", "/a/x"}, filechanges.Paths(net))
}

func TestNothingHasNoNetChangesRootsOrPaths(t *testing.T) {
	require.Empty(t, filechanges.Net(nil))
	require.Equal(t, []string{}, filechanges.Roots(nil))
	require.Equal(t, []string{}, filechanges.Paths(nil))
}

func TestConflictsAreChangesOfSomethingElse(t *testing.T) {
	ours := []protocol.WorktreeChanges{
		changes("/r", change("a", "1", "2"), change("b", "1", "2"), change("c", "1", "2")),
		changes("/r", change("a", "2", "3"), change("b", "9", "3"), change("c", "9", "1")),
	}
	require.Equal(t, []string{"/r/b"}, filechanges.Conflicts(ours), "a is a chain, and c ends as it began")
}

func TestChangesAndTheirInverseHaveNoNetEffect(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "1", "2"})
	sample.Check(t, func(t *rapid.T) {
		one := changes(word.Draw(t, "root"), change(word.Draw(t, "path"), word.Draw(t, "before"), word.Draw(t, "after")))
		net := filechanges.Net([]protocol.WorktreeChanges{one})
		back := filechanges.Inverse("id", net)
		require.Empty(t, filechanges.Net(append(net, back...)))
		require.Empty(t, filechanges.Conflicts(append(net, back...)))
	})
}
