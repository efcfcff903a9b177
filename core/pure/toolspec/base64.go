package toolspec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"appserver/platform/pattern"
)

// decodeBase64 decodes base64 of either alphabet, with or without padding and line breaks.
func decodeBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("\r", "", "\n", "", " ", "", "\t", "", "-", "+", "_", "/").Replace(text)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

// minHidden is the size of base64 in a text that a note replaces, in bytes. A shorter one is left, because it can be an
// identifier, a key or a hash.
const minHidden = 2048

// longBase64 matches texts that can be long base64, also in lines and in JSON strings with lines.
var longBase64 = pattern.New(`(?:[A-Za-z0-9+/_-]{60,}(?:\r\n|\n|\\r\\n|\\n)?)+[A-Za-z0-9+/_-]*={0,2}`)

// withoutBytes returns a text, which may be JSON, with notes in place of long base64.
func (w *blockReader) withoutBytes(text string) string {
	if len(text) < minHidden {
		return text
	}
	return longBase64().ReplaceAllStringFunc(text, func(found string) string {
		content, err := decodeHidden(found)
		if err != nil {
			return found
		}
		note := fmt.Sprintf("[%d bytes in base64: %s]", len(content), w.place(content, ""))
		return strings.NewReplacer(`\`, `\\`, `"`, `'`).Replace(note) // the text may be JSON
	})
}

var errNoBase64 = errors.New("the text is no base64")

// decodeHidden decodes a part of a text if it is certainly base64: it has letters of both cases and digits, as bytes
// have. Words, hexadecimal numbers and repeated characters have not.
func decodeHidden(text string) ([]byte, error) {
	text = strings.NewReplacer(`\r`, "", `\n`, "", "\r", "", "\n", "").Replace(text)
	if len(text) < minHidden || variety(text) < minVariety {
		return nil, errNoBase64
	}
	return decodeBase64(text)
}

// minVariety is the number of different characters in base64 of bytes. Each is equally likely, so even a short text has
// almost all 64.
const minVariety = 40

func variety(text string) int {
	var seen [256]bool
	n := 0
	for i := range len(text) {
		if !seen[text[i]] {
			seen[text[i]] = true
			n++
		}
	}
	return n
}
