package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func readMessages(t *testing.T, text string) (passed string, dropped []string, err error) {
	t.Helper()
	m := newMessages(io.NopCloser(strings.NewReader(text)), func(line string) { dropped = append(dropped, line) })
	all, err := io.ReadAll(m)
	require.NoError(t, m.Close())
	return string(all), dropped, err
}

func TestOnlyMessagesPass(t *testing.T) {
	passed, dropped, err := readMessages(t,
		"hello\n\n{\"jsonrpc\":\"2.0\",\"id\":1}\r\n{\"level\":1}\n[1]\n{\"jsonrpc\":\"2.0\"")
	require.NoError(t, err)
	require.Equal(t, "{\"jsonrpc\":\"2.0\",\"id\":1}\r\n", passed)
	require.Equal(t, []string{"hello\n", "{\"level\":1}\n", "[1]\n"}, dropped)
}

func TestLastMessageNeedsNoNewline(t *testing.T) {
	passed, _, err := readMessages(t, `{"jsonrpc":"2.0","id":1}`)
	require.NoError(t, err)
	require.Equal(t, `{"jsonrpc":"2.0","id":1}`, passed)
}

func TestEndlessLineIsRejected(t *testing.T) {
	_, _, err := readMessages(t, strings.Repeat("x", maxLine+1))
	require.ErrorIs(t, err, errLine)
}

// FuzzMessages: only messages pass, in order.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("a\n{\"jsonrpc\":\"2.0\"}\n\xff{}\n"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"jsonrpc\":1}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newMessages(io.NopCloser(bytes.NewReader(b)), func(string) {})
		all, err := io.ReadAll(m)
		require.NoError(t, err)
		for line := range bytes.Lines(all) {
			require.True(t, json.Valid(line), "%q", line)
			require.Contains(t, string(b), string(line))
		}
	})
}
