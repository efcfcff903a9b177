package model_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"appserver/core"
	"appserver/core/model"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// TestProviders reads streams as they come from the providers that people use.
// Each file holds the stream and what is to be made of it.
func TestProviders(t *testing.T) {
	files, err := filepath.Glob("testdata/providers/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			stream, want := readArchive(t, file)
			require.Equal(t, want, transcript(ask(t.Context(), memoryProvider(stream), userSays("hi"))))
			require.Equal(t, want, transcript(ask(t.Context(), byteByByte(stream), userSays("hi"))), "however the bytes arrive")
			crlf := strings.ReplaceAll(stream, "\n", "\r\n")
			require.Equal(t, want, transcript(ask(t.Context(), memoryProvider(crlf), userSays("hi"))), "with CRLF")
		})
	}
}

func readArchive(t *testing.T, file string) (stream, want string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	require.Len(t, archive.Files, 2)
	require.Equal(t, "stream", archive.Files[0].Name)
	require.Equal(t, "want", archive.Files[1].Name)
	return string(archive.Files[0].Data), string(archive.Files[1].Data)
}

// transcript writes down what came of a prompt, a line for each part.
func transcript(pieces []core.Piece, answer core.Answer, err error) string {
	var b strings.Builder
	text, reasoning := spoken(pieces)
	if reasoning != "" {
		fmt.Fprintf(&b, "reasoning %q\n", reasoning)
	}
	if text != "" {
		fmt.Fprintf(&b, "text %q\n", text)
	}
	for _, c := range answer.Calls {
		fmt.Fprintf(&b, "call %s %s %s\n", c.ID, c.Name, c.Arguments)
	}
	if u := answer.Usage; u != nil {
		fmt.Fprintf(&b, "usage input=%d cached=%d output=%d reasoning=%d total=%d\n",
			u.InputTokens, u.CachedInputTokens, u.OutputTokens, u.ReasoningOutputTokens, u.TotalTokens)
	}
	if m := new(core.ModelError); errors.As(err, &m) {
		fmt.Fprintf(&b, "error %s retry=%v streaming=%v %s\n", m.Info.Kind, m.Retry, m.Streaming, m.Message)
	}
	return b.String()
}

// byteByByte answers with a stream whose bytes arrive one at a time.
func byteByByte(stream string) *model.OpenAI {
	return readerProvider(func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) })
}
