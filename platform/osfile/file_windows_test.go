package osfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesAreTruncatedByAnotherHandle calls it directly, because Wine truncates files that are open to append.
func TestFilesAreTruncatedByAnotherHandle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	file, err := Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString("one two")
	require.NoError(t, err)
	require.NoError(t, truncateAgain(file, 3))
	_, err = file.WriteString(" three")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	text, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one three", string(text))
}
