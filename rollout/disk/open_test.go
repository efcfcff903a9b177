package disk

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
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

func TestResultsAreInOrder(t *testing.T) {
	jobs := func(yield func(int) bool) {
		for n := 0; n < 1000 && yield(n); n++ {
		}
	}
	want := 0
	for n := range InOrder(jobs, func(n int) int { return -n }) {
		require.Equal(t, -want, n)
		want++
	}
	require.Equal(t, 1000, want)
	for n := range InOrder(jobs, func(n int) int { return n }) {
		if n == 10 {
			break // no goroutine is left, as TestMain checks
		}
	}
	for range InOrder(func(func(int) bool) {}, func(n int) int { return n }) {
		t.Fatal("there is no job")
	}
}

func TestAPanicOfAJobPassesToTheCaller(t *testing.T) {
	jobs := slices.Values([]int{0, 1, 2, 3})
	var done []int
	require.PanicsWithValue(t, "two", func() {
		for n := range InOrder(jobs, func(n int) int {
			if n == 2 {
				panic("two")
			}
			return n
		}) {
			done = append(done, n)
		}
	})
	require.Equal(t, []int{0, 1}, done)
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
