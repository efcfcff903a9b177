package model_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
	"appserver/test/sample"
)

func TestStreamShapes(t *testing.T) { eachWire(t, testStreamShapes) }

func testStreamShapes(t *testing.T, w encoding) {
	hello := w.text("Hel") + w.text("lo")
	whole := hello + w.end
	for name, stream := range map[string]string{
		"plain":                    whole,
		"CRLF":                     strings.ReplaceAll(whole, "\n", "\r\n"),
		"CR":                       strings.ReplaceAll(whole, "\n", "\r"),
		"JSON in lines":            strings.ReplaceAll(strings.ReplaceAll(whole, "data: ", ""), "\n\n", "\n"),
		"JSON in lines, CRLF":      strings.ReplaceAll(strings.ReplaceAll(whole, "data: ", ""), "\n\n", "\r\n"),
		"JSON in lines, blank":     strings.ReplaceAll(whole, "data: ", ""),
		"byte order mark":          "\xef\xbb\xbf" + whole,
		"several data lines":       strings.ReplaceAll(w.text("Hello"), `":`, "\":\ndata: ") + w.end,
		"comments and event lines": ": hi\n\n" + strings.ReplaceAll(hello, "data:", ": keep\nevent: chunk\ndata:") + w.end,
		"a comment storm":          strings.Repeat(": ping\n\n", 2000) + whole,
		"no last line end":         strings.TrimSpace(whole),
		"blank lines left out":     strings.ReplaceAll(whole, "\n\n", "\n"),
		"no space after the colon": strings.ReplaceAll(whole, "data: ", "data:"),
		"empty data":               "data:\n\n" + hello + "data: \n\n" + w.end,
		"garbage after the end":    whole + "data: bye\n\n",
		"an error after the end":   whole + "data: {\"error\":\"late\"}\n\n",
		"an end after the end":     whole + w.end,
		"text after the end":       whole + w.text("late"),
		"error null":               strings.ReplaceAll(hello, "data: {", `data: {"error":null,`) + w.end,
		"numbers and null":         "data: 1\n\ndata: null\n\ndata: []\n\ndata: \"a\"\n\ndata: {}\n\n" + whole,
		"texts of other types":     w.delta("7") + w.delta(`{"a":1}`) + w.delta("null") + whole,
		"empty texts":              w.text("") + whole,
	} {
		t.Run(name, func(t *testing.T) {
			pieces, answer, err := modeltest.Ask(t.Context(), w.serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
			require.NoError(t, err)
			text, _ := modeltest.Spoken(pieces)
			require.Equal(t, "Hello", text)
			require.Equal(t, core.Answer{}, answer)
		})
	}
}

func TestRawLineBreaksAreText(t *testing.T) { eachWire(t, testRawLineBreaksAreText) }

func testRawLineBreaksAreText(t *testing.T, w encoding) {
	require.Equal(t, "a \"b\"\n\tc\r\nd\\", w.said(t, w.delta("\"a \\\"b\\\"\\n\tc\\r\\nd\\\\\"")+w.end))
}

func TestInvalidUTF8IsReplaced(t *testing.T) { eachWire(t, testInvalidUTF8IsReplaced) }

func testInvalidUTF8IsReplaced(t *testing.T, w encoding) {
	require.Equal(t, "a\ufffdb", w.said(t, w.delta("\"a\xffb\"")+w.end))
	require.Equal(t, "a\ufffdb", w.said(t, w.delta(`"a\ud800b"`)+w.end), "half of a surrogate pair")
}

func TestTextIsTheSameHoweverItIsCut(t *testing.T) { eachWire(t, testTextIsTheSameHoweverItIsCut) }

func testTextIsTheSameHoweverItIsCut(t *testing.T, w encoding) {
	sample.Check(t, func(rt *rapid.T) {
		text := "a" + rapid.StringMatching(`[a-z"{}\\\n é😀]{0,40}`).Draw(rt, "text")
		var stream strings.Builder
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "cut")
			raw, err := protocol.Marshal(string(rest[:n]))
			require.NoError(rt, err)
			stream.WriteString(w.delta(string(raw)))
			rest = rest[n:]
		}
		stream.WriteString(w.end)
		require.Equal(rt, text, w.said(t, stream.String()))
		pieces, _, err := modeltest.Ask(t.Context(), modeltest.FromReader(w.wire(), func() io.Reader {
			return iotest.OneByteReader(strings.NewReader(stream.String()))
		}), modeltest.UserSays("hi"))
		require.NoError(rt, err)
		said, _ := modeltest.Spoken(pieces)
		require.Equal(rt, text, said, "byte by byte")
	})
}

func TestStreamsThatBreakOff(t *testing.T) { eachWire(t, testStreamsThatBreakOff) }

func testStreamsThatBreakOff(t *testing.T, w encoding) {
	hello := w.text("Hel")
	abort := func(stream string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			modeltest.Events(stream)(rw, r)
			_ = http.NewResponseController(rw).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		message string
	}{
		"closed properly":      {modeltest.Events(hello), "it ended without " + w.wire().Terminal()},
		"cut connection":       {abort(hello), "unexpected EOF"},
		"cut within an event":  {modeltest.Events(hello + w.end[:len(w.end)/4]), "not JSON"},
		"an event not JSON":    {modeltest.Events(hello + "data: Internal error\n\n" + w.end), "not JSON"},
		"an event without end": {modeltest.Events(hello + event(strings.Repeat(`{"a":`, 20_000)) + w.end), "not JSON"},
		"an event nested deep": {modeltest.Events(hello +
			event(strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000)) + w.end), "not JSON"},
		"a list nested deep":     {modeltest.Events(hello + w.delta(strings.Repeat("[", 1<<20)) + w.end), "not JSON"},
		"nothing":                {modeltest.Events(""), "held no events"},
		"comments only":          {modeltest.Events(": ping\n\n"), "held no events"},
		"a page":                 {modeltest.Events("<html><title>Login</title></html>"), "held no events"},
		"a cut document":         {modeltest.Events(`{"choices":[{"mess`), "not JSON"},
		"an unfinished document": {modeltest.Events(`{"object":"list"}`), "it ended without"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := modeltest.Ask(t.Context(), w.serve(t, c.handler), modeltest.UserSays("hi"))
			m := modeltest.Failed(t, err)
			require.True(t, strings.HasPrefix(m.Message, "stream disconnected before completion: "), m.Message)
			require.Contains(t, m.Message, c.message)
			require.Equal(t, protocol.CodexErrorInfo{Kind: protocol.ErrorOther}, m.Info)
			require.True(t, m.Retry)
			require.True(t, m.Streaming)
		})
	}
	t.Run("cut after the end", func(t *testing.T) {
		pieces, _, err := modeltest.Ask(t.Context(), w.serve(t, abort(hello+w.end)), modeltest.UserSays("hi"))
		require.NoError(t, err, "the answer was whole")
		require.Len(t, pieces, 1)
	})
}

// TestAnswersWithoutEnd expects endless answers to be cut off, and not to be requested again.
func TestAnswersWithoutEnd(t *testing.T) {
	sample.NoRace(t)
	eachWire(t, testAnswersWithoutEnd)
}

func testAnswersWithoutEnd(t *testing.T, w encoding) {
	for name, repeated := range w.endless {
		t.Run(name, func(t *testing.T) { requireCutOff(t, w, repeated) })
	}
	t.Run("text", func(t *testing.T) { requireCutOff(t, w, w.text(mebibyte)) })
}

func requireCutOff(t *testing.T, w encoding, repeated string) {
	provider := modeltest.FromReader(w.wire(), func() io.Reader { return &endless{text: repeated} })
	_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	m := modeltest.Failed(t, err)
	require.Contains(t, m.Message, `model provider "memory" sent an answer of more than 32 MiB`)
	require.False(t, m.Retry)
	require.True(t, m.Streaming)
}

// endless reads a text again and again.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}
