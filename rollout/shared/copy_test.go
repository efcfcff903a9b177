package shared

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
)

// TestACopyIsCountedInParts compares lines that are shorter and longer than the parts in which they are read.
func TestACopyIsCountedInParts(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, lines := range [][]string{nil, {""}, {"one"}, {"one", "two"}, {long}, {"one", long}, {long, "one", long}} {
		for _, torn := range []string{"", "torn", long} {
			path := filepath.Join(t.TempDir(), "copy")
			whole := strings.Join(append(lines, ""), "\n")
			require.NoError(t, os.WriteFile(path, []byte(whole+torn), 0o600))
			n, last, err := copied(path, rollout.Covered{})
			require.NoError(t, err)
			require.Equal(t, int64(len(lines)), n)
			if n > 0 {
				require.Equal(t, lines[n-1], string(last))
			}
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, whole, string(left))
		}
	}
}

func TestAMissingCopyHasNoLines(t *testing.T) {
	n, last, err := copied(filepath.Join(t.TempDir(), "copy"), rollout.Covered{})
	require.NoError(t, err)
	require.Zero(t, n)
	require.Nil(t, last)
}

func BenchmarkCopied(b *testing.B) {
	path := filepath.Join(b.TempDir(), "copy")
	require.NoError(b, os.WriteFile(path, []byte(strings.Repeat(strings.Repeat("x", 1100)+"\n", 45_000)), 0o600))
	for b.Loop() {
		_, _, err := copied(path, rollout.Covered{})
		require.NoError(b, err)
	}
}
