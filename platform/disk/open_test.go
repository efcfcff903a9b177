package disk

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// shorter is a file that is shorter than its described size.
type shorter struct {
	File
	content *bytes.Reader
}

func (s shorter) ReadAt(p []byte, off int64) (int, error) { return s.content.ReadAt(p, off) }

func TestReadAllOfAShrunkenFile(t *testing.T) {
	for _, size := range []int{0, 1, bytesPerWorker, 3*bytesPerWorker + 5} {
		whole := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
		data, err := ReadAll(shorter{content: bytes.NewReader(whole)}, 4*bytesPerWorker)
		require.NoError(t, err)
		require.True(t, bytes.Equal(whole, data), "%d of %d bytes", len(data), size)
	}
}

func TestReadAllAcceptsEOFWithTheLastBytes(t *testing.T) {
	whole := []byte("all of it")
	data, err := ReadAll(eager{shorter{content: bytes.NewReader(whole)}}, int64(len(whole)))
	require.NoError(t, err)
	require.Equal(t, whole, data)
}

// eager returns io.EOF together with the last bytes, as a ReaderAt may.
type eager struct{ shorter }

func (e eager) ReadAt(p []byte, off int64) (int, error) {
	n, err := e.shorter.ReadAt(p, off)
	if err == nil && off+int64(n) == e.content.Size() {
		err = io.EOF
	}
	return n, err
}

// TestALargeTempFileIsWhole writes a file of which the system stores parts early.
func TestALargeTempFileIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	whole := bytes.Repeat([]byte("0123456789abcde\n"), (2*earlySyncSize+WriteSize)/16+1)
	require.NoError(t, Replace(OS(), path, whole))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(whole, got))
}
