package transcript

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathsOfWindowsAreFileURLs(t *testing.T) {
	for path, want := range map[string]string{
		`C:\repo\a b.txt`:    "file:///C:/repo/a%20b.txt",
		`\\host\share\a.txt`: "file://host/share/a.txt",
		"relative":           "relative",
	} {
		require.Equal(t, want, fileURL(path))
		require.Equal(t, path, pathOf(want))
	}
	require.Equal(t, "/home/me", pathOf("file:///home/me"), "a rollout of another system")
}
