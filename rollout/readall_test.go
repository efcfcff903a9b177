package rollout

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// shorter is a file that has lost its end since its size was asked for.
type shorter struct {
	File
	content *bytes.Reader
}

func (s shorter) ReadAt(p []byte, off int64) (int, error) { return s.content.ReadAt(p, off) }

func TestAFileThatShrinksWhileItIsReadEndsEarly(t *testing.T) {
	for _, size := range []int{0, 1, bytesPerWorker, 3*bytesPerWorker + 5} {
		whole := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
		data, err := readAll(shorter{content: bytes.NewReader(whole)}, 4*bytesPerWorker)
		require.NoError(t, err)
		require.True(t, bytes.Equal(whole, data), "%d of %d bytes", len(data), size)
	}
}

func TestReadAllTakesAFullReadWithEOF(t *testing.T) {
	whole := []byte("all of it")
	data, err := readAll(eager{shorter{content: bytes.NewReader(whole)}}, int64(len(whole)))
	require.NoError(t, err)
	require.Equal(t, whole, data)
}

// eager says io.EOF together with the last bytes, as a ReaderAt may.
type eager struct{ shorter }

func (e eager) ReadAt(p []byte, off int64) (int, error) {
	n, err := e.shorter.ReadAt(p, off)
	if err == nil && off+int64(n) == e.content.Size() {
		err = io.EOF
	}
	return n, err
}
