package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"appserver/core/effects/model/sse"

	"github.com/stretchr/testify/require"
)

const limit = 1 << 20

func readAll(r io.Reader, limit int) (events []string, err error) {
	reader := sse.NewReader(r, limit)
	for {
		data, err := reader.Next()
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

func TestEvents(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", 100_000) + `"}`
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"plain":                        {"data: {}\n\ndata: [DONE]\n\n", []string{"{}", "[DONE]"}},
		"no space after the colon":     {"data:{}\n\n", []string{"{}"}},
		"only one space is cut":        {"data:  x\n\n", []string{" x"}},
		"CRLF":                         {"data: {}\r\n\r\ndata: 1\r\n\r\n", []string{"{}", "1"}},
		"CR":                           {"data: {}\r\rdata: 1\r\r", []string{"{}", "1"}},
		"CR, no last blank line":       {"data: {}\r\rdata: 1", []string{"{}", "1"}},
		"CR, blank lines left out":     {"data: {}\rdata: 1\r", []string{"{}", "1"}},
		"ends of all kinds":            {"data: [\rdata: 1]\n\r\ndata: 2\r\n\rdata: 3\n\n", []string{"[ 1]", "2", "3"}},
		"byte order mark":              {"\xef\xbb\xbfdata: {}\n\n", []string{"{}"}},
		"mark before a comment":        {"\xef\xbb\xbf: hi\ndata: {}\n\n", []string{"{}"}},
		"comments and other fields":    {": a\nevent: x\nid: 7\nretry: 1\n: b\n\ndata: 1\n: c\n\n", []string{"1"}},
		"a comment storm":              {strings.Repeat(": ping\n\n", 5000) + "data: 1\n\n", []string{"1"}},
		"several lines make one event": {"data: {\"a\":\ndata: 1}\n\n", []string{`{"a": 1}`}},
		"blank lines left out": {"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n",
			[]string{`{"a":1}`, `{"a":2}`, "[DONE]"}},
		"blank lines left out, no end": {"data: {\"a\":1}\ndata: {\"a\":2}", []string{`{"a":1}`, `{"a":2}`}},
		"no blank line at the end":     {"data: 1\n\ndata: 2\n", []string{"1", "2"}},
		"no line end at the end":       {"data: 1\n\ndata: 2", []string{"1", "2"}},
		"field without a value":        {"data\n\ndata:\n\n", []string{"", ""}},
		"names that begin alike":       {"database: 1\ndata: 2\n\n", []string{"2"}},
		"lines of other formats":       {"<html>\n{}\n\n", nil},
		"a line beyond the buffer":     {"data: " + long + "\n\ndata: 1\n\n", []string{long, "1"}},
		"long lines, blank ones left":  {"data: " + long + "\ndata: " + long + "\n", []string{long, long}},
		"nothing":                      {"", nil},
		"invalid UTF-8":                {"data: \xff\xfe\n\n", []string{"\xff\xfe"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(c.stream), limit)
			require.Equal(t, io.EOF, err)
			require.Equal(t, c.want, got)

			got, err = readAll(iotest.OneByteReader(strings.NewReader(c.stream)), limit)
			require.Equal(t, io.EOF, err)
			require.Equal(t, c.want, got, "however the bytes arrive")
		})
	}
}

func TestBrokenStreamKeepsWholeLinesOnly(t *testing.T) {
	broken := errors.New("reset by peer")
	src := func(s string) io.Reader { return io.MultiReader(strings.NewReader(s), iotest.ErrReader(broken)) }

	got, err := readAll(src("data: 1\n\ndata: [DONE]\n"), limit)
	require.Equal(t, broken, err)
	require.Equal(t, []string{"1", "[DONE]"}, got)

	got, err = readAll(src("data: 1\n\ndata: 23"), limit)
	require.Equal(t, broken, err)
	require.Equal(t, []string{"1"}, got, "a number may have lost digits")
}

func TestEventBeyondTheLimit(t *testing.T) {
	for name, stream := range map[string]string{
		"one line":        "data: 1\n\ndata: " + strings.Repeat("x", 100_000) + "\n\ndata: 3\n\n",
		"many lines":      "data: 1\n\n" + strings.Repeat("data: xxxxxxxxx\n", 10_000) + "\n",
		"never ends":      "data: 1\n\n" + strings.Repeat("x", 100_000),
		"short, too long": "data: 1\n\ndata: " + strings.Repeat("x", 1001) + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(stream), 1000)
			require.ErrorIs(t, err, sse.ErrTooLong)
			require.ErrorContains(t, err, "more than 1000 bytes")
			require.Equal(t, []string{"1"}, got)
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfdata: {}\r\n\r\n: c\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"a\":\ndata: 1}\n\ndata: 2"))
	f.Add([]byte("data\ndata:\n\n\r\r\ndata: {}\ndata: {}\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		got, err := readAll(bytes.NewReader(stream), 1<<10)
		if !errors.Is(err, sse.ErrTooLong) {
			require.Equal(t, io.EOF, err)
		}
		size := 0
		for _, e := range got {
			size += len(e)
			require.NotContains(t, e, "\n")
		}
		require.LessOrEqual(t, size, len(stream))

		again, againErr := readAll(iotest.OneByteReader(bytes.NewReader(stream)), 1<<10)
		require.Equal(t, got, again)
		require.Equal(t, err == io.EOF, againErr == io.EOF)
	})
}
