package toolspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"appserver/core/pure/imagefile"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// Keep stores bytes of a result for the model, and returns the path of their file. The media type is "" if it is not
// known.
type Keep func(content []byte, mediaType string) (path string, err error)

// Origin names the tool of a result in notes.
type Origin struct{ Server, Tool string }

// Parts returns the result for the model: its structured content, or else its content. A note replaces bytes that the
// model cannot read, with the path of a file that has them. Keep is nil if they are not stored.
func (r *ServerResult) Parts(from Origin, keep Keep) []protocol.ContentItem {
	w := blockReader{from: from, keep: keep}
	if r.Structured != nil {
		return []protocol.ContentItem{textPart(w.withoutBytes(string(r.Structured)))}
	}
	var parts []protocol.ContentItem
	for _, block := range r.Content {
		parts = append(parts, w.part(block))
	}
	return parts
}

// blockReader converts the blocks of one result.
type blockReader struct {
	from   Origin
	keep   Keep
	images int
}

// part converts a content block. Blocks of an unknown kind become their JSON.
func (w *blockReader) part(block json.RawMessage) protocol.ContentItem {
	in := gjson.ParseBytes(block)
	switch in.Get("type").Str {
	case "text":
		return textPart(w.withoutBytes(in.Get("text").Str))
	case "image":
		return w.image(in.Get("data").Str, in.Get("mimeType").Str, "")
	case "audio":
		return textPart(w.bytes("a sound", in.Get("data").Str, in.Get("mimeType").Str, ""))
	case "resource":
		if resource := in.Get("resource"); resource.Get("blob").Type == gjson.String {
			return w.blob(block, resource)
		}
	}
	return textPart(w.withoutBytes(string(block)))
}

// image returns an image, or a note in place of one that models cannot read.
func (w *blockReader) image(data, mediaType, uri string) protocol.ContentItem {
	sent, err := imagefile.URL("data:" + mediaType + ";base64," + data)
	if err == nil {
		if w.images++; w.images <= maxImages {
			return protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: sent}
		}
		err = fmt.Errorf("a result can have %d", maxImages)
	}
	note := "[an image is left out: " + err.Error() + "]"
	if _, broken := decodeBase64(data); broken != nil {
		note = w.bytes("an image", data, mediaType, uri)
	} else if w.keep != nil {
		note += " " + w.bytes("an image", data, mediaType, uri)
	}
	return textPart(note)
}

// blob converts an embedded resource with bytes: text as if the server had written text, an image as an image, and
// anything else as a note.
func (w *blockReader) blob(block json.RawMessage, resource gjson.Result) protocol.ContentItem {
	blob, mediaType, uri := resource.Get("blob").Str, resource.Get("mimeType").Str, resource.Get("uri").Str
	content, err := decodeBase64(blob)
	switch {
	case err == nil && isText(content, mediaType):
		return textPart(w.withoutBytes(withText(block, strings.TrimPrefix(string(content), "\ufeff"))))
	case err == nil && strings.HasPrefix(cleanMediaType(mediaType), "image/"):
		return w.image(blob, mediaType, uri)
	}
	return textPart(w.bytes("a resource", blob, mediaType, uri))
}

// withText returns the JSON of a block whose resource has a text in place of its blob.
func withText(block json.RawMessage, text string) string {
	var members, resource map[string]json.RawMessage
	if protocol.Unmarshal(block, &members) != nil || protocol.Unmarshal(members["resource"], &resource) != nil {
		return text
	}
	delete(resource, "blob")
	resource["text"], _ = protocol.Marshal(text) // texts and JSON can always be encoded
	members["resource"], _ = protocol.Marshal(resource)
	raw, _ := protocol.Marshal(members)
	return string(raw)
}

// bytes returns the note in place of bytes: their kind, type, size and origin, and the file that has them.
func (w *blockReader) bytes(kind, data, mediaType, uri string) string {
	known := cleanMediaType(mediaType)
	note := "[" + kind
	if known != "" {
		note += " of type " + known
	}
	if uri != "" {
		note += " " + quoted(uri)
	}
	if w.from != (Origin{}) {
		note += fmt.Sprintf(" from the tool %s of the MCP server %s", quoted(w.from.Tool), quoted(w.from.Server))
	}
	content, err := decodeBase64(data)
	if err != nil {
		return fmt.Sprintf("%s is left out: its base64 is broken (%d characters)]", note, len(data))
	}
	return fmt.Sprintf("%s, %d bytes: %s]", note, len(content), w.place(content, known))
}

// place stores bytes, and returns where they are.
func (w *blockReader) place(content []byte, mediaType string) string {
	if w.keep == nil || len(content) == 0 {
		return "not shown"
	}
	path, err := w.keep(content, mediaType)
	if err != nil {
		return "not stored, because " + err.Error()
	}
	return "stored in the file " + path
}

// maxQuoted bounds names and addresses of a server in notes, in bytes.
const maxQuoted = 200

// quoted returns a text of a server in quotation marks and without control characters.
func quoted(text string) string { return strconv.Quote(excerpt.Prefix(text, maxQuoted)) }

// maxMediaType bounds a media type, in bytes.
const maxMediaType = 80

// cleanMediaType returns a media type without parameters, or "" for a text that is none.
func cleanMediaType(text string) string {
	mediaType, _, err := mime.ParseMediaType(text)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || len(mediaType) > maxMediaType ||
		strings.Count(mediaType, "/") != 1 || strings.Trim(mediaType, "abcdefghijklmnopqrstuvwxyz0123456789/.+-_") != "" {
		return ""
	}
	return mediaType
}

// textTypes are media types of texts beside text/*, +json, +xml and +yaml.
const textTypes = " application/json application/jsonl application/ndjson application/x-ndjson application/json5 " +
	"application/xml application/javascript application/ecmascript application/typescript application/x-javascript " +
	"application/yaml application/x-yaml application/toml application/sql application/x-sh application/graphql " +
	"application/x-httpd-php application/x-www-form-urlencoded application/rtf application/x-tex application/x-latex "

// isText reports whether content is text for the model: valid UTF-8, of a type for texts. Of an unknown type it must
// have no control characters.
func isText(content []byte, mediaType string) bool {
	known := cleanMediaType(mediaType)
	switch {
	case !utf8.Valid(content) || strings.ContainsRune(string(content), 0):
		return false
	case strings.HasPrefix(known, "text/"), strings.Contains(textTypes, " "+known+" ") && known != "",
		strings.HasSuffix(known, "+json"), strings.HasSuffix(known, "+xml"), strings.HasSuffix(known, "+yaml"):
		return true
	}
	return (known == "" || known == "application/octet-stream") && !strings.ContainsFunc(string(content), isControl)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }
