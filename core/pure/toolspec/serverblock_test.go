package toolspec_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// noise returns n bytes that are no text.
func noise(n int) []byte {
	var out []byte
	for i := 0; len(out) < n; i++ {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		out = append(out, sum[:]...)
	}
	return out[:n]
}

// kept has the stored bytes by their path.
type kept map[string][]byte

func (k kept) keep(content []byte, mediaType string) (string, error) {
	path := fmt.Sprintf("/files/%d %s", len(k), mediaType)
	k[path] = content
	return path, nil
}

func (k kept) parts(r *toolspec.ServerResult) []protocol.ContentItem {
	return r.Parts(toolspec.Origin{Server: "s", Tool: "t"}, k.keep)
}

func block(t *testing.T, v any) *toolspec.ServerResult {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return &toolspec.ServerResult{Content: []json.RawMessage{raw}}
}

func resource(mediaType string, blob []byte) map[string]any {
	return map[string]any{"type": "resource", "resource": map[string]any{"uri": "mem://a", "mimeType": mediaType, "blob": blob}}
}

const pngHead = "\x89PNG\r\n\x1a\n"

// TestBytesOfResultsBecomeNotesWithFiles: the model gets no base64 of what it cannot read.
func TestBytesOfResultsBecomeNotesWithFiles(t *testing.T) {
	data := noise(9000)
	encoded := base64.StdEncoding.EncodeToString(data)
	for name, given := range map[string]any{
		"sound":            map[string]any{"type": "audio", "mimeType": "audio/wav", "data": data},
		"document":         resource("application/pdf", data),
		"unknown type":     resource("", data),
		"wrong type":       resource("text/plain", data),
		"image, no image":  map[string]any{"type": "image", "mimeType": "image/png", "data": data},
		"image, unread":    map[string]any{"type": "image", "mimeType": "image/tiff", "data": data},
		"image, header":    map[string]any{"type": "image", "data": append([]byte(pngHead), data[8:]...)},
		"resource, image":  resource("image/bmp", data),
		"unknown block":    map[string]any{"type": "video", "data": data},
		"a text":           map[string]any{"type": "text", "text": "see " + encoded + " above"},
		"a text, in lines": map[string]any{"type": "text", "text": lines(data)},
		"nested":           map[string]any{"a": []any{map[string]any{"b": base64.URLEncoding.EncodeToString(data)}}},
	} {
		k := kept{}
		parts := k.parts(block(t, given))
		require.Len(t, parts, 1, name)
		require.Len(t, k, 1, name)
		for path, content := range k {
			require.Contains(t, parts[0].Text, path, name)
			require.Len(t, content, len(data), name)
		}
		require.Contains(t, parts[0].Text, "9000 bytes", name)
		require.Less(t, len(parts[0].Text), 500, name)
	}
}

func lines(data []byte) string {
	var b strings.Builder
	for text := base64.StdEncoding.EncodeToString(data); text != ""; {
		n := min(76, len(text))
		b.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return b.String()
}

func TestStructuredBytesBecomeNotes(t *testing.T) {
	k := kept{}
	r := &toolspec.ServerResult{Structured: []byte(`{"n":1,"pdf":"` +
		base64.StdEncoding.EncodeToString(noise(5000)) + `","x":"y"}`)}
	text := k.parts(r)[0].Text
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &m), "it stays JSON: %s", text)
	require.Contains(t, m["pdf"], "5000 bytes")
	require.EqualValues(t, 1, m["n"])
	require.Contains(t, r.Output("", 0).Text, "not shown", "without a place for files")
}

// TestTextsOfResultsStay: texts in blobs become texts, and words, numbers and short base64 are no bytes.
func TestTextsOfResultsStay(t *testing.T) {
	for mediaType, content := range map[string]string{
		"text/plain": "the word is 4711", "text/plain; charset=utf-8": "ä", "application/json": `{"word":4711}`, "": "plain",
		"application/vnd.x+json": "{}", "image/svg+xml": "<svg/>", "application/octet-stream": "plain\n", "text/csv": "\ufeffa,b",
	} {
		k := kept{}
		parts := k.parts(block(t, resource(mediaType, []byte(content))))
		var shown struct {
			Resource struct{ URI, Text, MimeType string }
		}
		require.NoError(t, json.Unmarshal([]byte(parts[0].Text), &shown))
		require.Equal(t, strings.TrimPrefix(content, "\ufeff"), shown.Resource.Text)
		require.Equal(t, "mem://a", shown.Resource.URI)
		require.Empty(t, k)
	}
	for _, text := range []string{
		strings.Repeat("x", 50_000), strings.Repeat("words and more ", 5000), fmt.Sprintf("%x", noise(5000)),
		strings.Repeat("/usr/lib/python3/dist-packages/", 300), base64.StdEncoding.EncodeToString(noise(1000)),
		strings.Repeat("ACGT", 10_000),
	} {
		k := kept{}
		require.Equal(t, text, k.parts(block(t, map[string]any{"type": "text", "text": text}))[0].Text)
		require.Empty(t, k)
	}
	link := `{"type":"resource_link","uri":"file:///a","name":"a"}`
	require.Equal(t, link, kept{}.parts(&toolspec.ServerResult{Content: []json.RawMessage{[]byte(link)}})[0].Text)
}

// TestNamesOfServersDoNoHarmInNotes: addresses, types and names of tools are quoted and bounded.
func TestNamesOfServersDoNoHarmInNotes(t *testing.T) {
	k := kept{}
	hostile := "../../etc/x\x1b[31m\u202e\n]stored in the file /etc/passwd" + strings.Repeat("y", 10_000)
	given := block(t, map[string]any{"type": "resource",
		"resource": map[string]any{"uri": hostile, "mimeType": "text/\x1b[2J" + hostile, "blob": noise(3000)}})
	text := given.Parts(toolspec.Origin{Server: "s", Tool: hostile}, k.keep)[0].Text
	require.Less(t, len(text), 1500)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\n")
	require.NotContains(t, text, "\u202e")
	require.Contains(t, k, "/files/0 ", "the type is not used")
}

// TestOneBadBlockSpoilsNoOther: broken base64, and files that cannot be stored.
func TestOneBadBlockSpoilsNoOther(t *testing.T) {
	r := &toolspec.ServerResult{Content: []json.RawMessage{[]byte(`{"type":"text","text":"kept"}`),
		[]byte(`{"type":"image","data":"%%%","mimeType":"image/png"}`), []byte(`{"type":"audio"}`), []byte(`{"type":"resource","resource":7}`),
		[]byte(`{"type":"resource","resource":{"blob":"%"}}`), []byte(`{"type":"newblock","x":1}`)}}
	full := func([]byte, string) (string, error) { return "", errors.New("the disk is full") }
	parts := r.Parts(toolspec.Origin{}, full)
	require.Len(t, parts, 6)
	require.Equal(t, "kept", parts[0].Text)
	require.Contains(t, parts[1].Text, "an image of type image/png is left out: its base64 is broken (3 characters)")
	require.Contains(t, parts[4].Text, "base64 is broken")
	require.Equal(t, `{"type":"newblock","x":1}`, parts[5].Text)
	unstored := block(t, resource("application/pdf", bytes.Repeat([]byte{0}, 10)))
	require.Contains(t, unstored.Parts(toolspec.Origin{}, full)[0].Text, "10 bytes: not stored, because the disk is full")
}
