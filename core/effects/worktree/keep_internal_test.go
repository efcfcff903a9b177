package worktree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesOfRefsAreLettersDigitsAndLines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "Z9", "_-", "0190a6f8-1111-7aaa-8bbb-000000000001", strings.Repeat("x", 200)} {
		require.True(t, namesRef(name), name)
	}
	for _, name := range []string{"", "-a", ".", "..", "a/b", "a.lock", "a b", "a\n", "é", "a\x00b", "a~b",
		strings.Repeat("x", 201)} {
		require.False(t, namesRef(name), name)
	}
}
