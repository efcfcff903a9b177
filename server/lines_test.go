package server

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const tooLong = "\x00too long"

// readAll returns all lines, with tooLong for lines above the limit.
func readAll(r *lineReader) (lines []string, err error) {
	for {
		line, err := r.next()
		switch {
		case err == nil:
			lines = append(lines, string(line))
		case errors.Is(err, errLineTooLong):
			lines = append(lines, tooLong)
		default:
			return lines, err
		}
	}
}

func TestLineReader(t *testing.T) {
	x := strings.Repeat("x", 10)
	for _, c := range []struct {
		name, input string
		want        []string
	}{
		{"nothing", "", nil},
		{"lf", "a\nb\n", []string{"a", "b"}},
		{"crlf", "a\r\nb\r\n", []string{"a", "b"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"blank", "\n\r\na\n", []string{"", "", "a"}},
		{"one carriage return only", "a\r\r\n", []string{"a\r"}},
		{"mark", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"mark alone", "\ufeff", []string{""}},
		{"longest", x + "\n" + x + "\r\n" + x, []string{x, x, x}},
		{"longest with a mark", "\ufeff" + x + "\r\n", []string{x}},
		{"too long", x + "y\na\n", []string{tooLong, "a"}},
		{"too long by one and an end", x + "\r\r\na", []string{tooLong, "a"}},
		{"far too long", strings.Repeat(x, 100_000) + "\na\n", []string{tooLong, "a"}},
		{"too long without end", x + x, []string{tooLong}},
		{"far too long without end", strings.Repeat(x, 100_000), []string{tooLong}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, in := range map[string]io.Reader{
				"whole":        strings.NewReader(c.input),
				"byte by byte": iotest.OneByteReader(strings.NewReader(c.input)),
				"data and EOF": iotest.DataErrReader(strings.NewReader(c.input)),
			} {
				got, err := readAll(&lineReader{in: in, max: len(x)})
				require.Equal(t, c.want, got, name)
				require.Equal(t, io.EOF, err, name)
			}
		})
	}
}

// TestLineReaderEndsOnce checks that the end of the input is final.
func TestLineReaderEndsOnce(t *testing.T) {
	r := &lineReader{in: io.MultiReader(strings.NewReader("a"), iotest.ErrReader(errBroken)), max: 10}
	lines, err := readAll(r)
	require.Equal(t, []string{"a"}, lines)
	require.Equal(t, errBroken, err)
	_, err = r.next()
	require.Equal(t, errBroken, err)
}

// idleReader returns no data and no error.
type idleReader struct{}

// Read returns no data.
func (idleReader) Read([]byte) (int, error) { return 0, nil }

func TestReaderWithoutProgress(t *testing.T) {
	_, err := (&lineReader{in: idleReader{}, max: 10}).next()
	require.Equal(t, io.ErrNoProgress, err)
}

// TestBufferGrowsByDoubling checks the memory for a large line, and that it is freed.
func TestBufferGrowsByDoubling(t *testing.T) {
	const size = 3 << 20
	r := &lineReader{in: strings.NewReader(strings.Repeat("x", size) + "\na\n"), max: maxLine}
	line, err := r.next()
	require.NoError(t, err)
	require.Len(t, line, size)
	require.LessOrEqual(t, len(r.buf), 2*size)
	_, err = r.next()
	require.NoError(t, err)
	_, err = r.next()
	require.Equal(t, io.EOF, err)
	require.LessOrEqual(t, len(r.buf), maxRetainedBuffer)
}

func FuzzLineReader(f *testing.F) {
	for _, seed := range []string{"", "a\n", "\ufeffa\r\n\r\n", "0123456789abcdef\nb", "\r\r\n", "\n\n"} {
		f.Add([]byte(seed), uint8(8), uint8(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, maxLen, step uint8) {
		in := io.Reader(bytes.NewReader(input))
		if step > 0 {
			in = stepReader{in, int(step)}
		}
		got, err := readAll(&lineReader{in: in, max: int(maxLen)})
		require.Equal(t, io.EOF, err)
		require.Equal(t, splitLines(input, int(maxLen)), got)
	})
}

// stepReader returns a few bytes per call.
type stepReader struct {
	in   io.Reader
	step int
}

// Read returns at most step bytes.
func (r stepReader) Read(b []byte) (int, error) { return r.in.Read(b[:min(len(b), r.step)]) }

// splitLines returns an independent implementation of the line reader.
func splitLines(input []byte, maxLen int) (lines []string) {
	if len(input) == 0 {
		return nil
	}
	parts := strings.Split(string(input), "\n")
	if parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	for i, line := range parts {
		if i == 0 {
			line = strings.TrimPrefix(line, byteOrderMark)
		}
		line = strings.TrimSuffix(line, "\r")
		if len(line) > maxLen {
			line = tooLong
		}
		lines = append(lines, line)
	}
	return lines
}
