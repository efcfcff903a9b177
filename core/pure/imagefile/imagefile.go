// Package imagefile checks images that models read: PNG, JPEG, GIF and WebP. A provider refuses a request
// with any other image, and the image stays in the conversation. The check reads the structure of a file, not
// its pixels: it costs no memory, and takes a time that grows with the number of parts.
package imagefile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// MaxBytes bounds an image.
const MaxBytes = 20 << 20

var (
	errType  = errors.New("not an image that models read: expected PNG, JPEG, GIF or WebP")
	errWhole = errors.New("the image is not whole")
	errURL   = errors.New("expected a data: or an http URL")
)

// Type returns the media type of an image. It fails for other content, for an image that is not whole, and for one of
// more than MaxBytes.
func Type(content []byte) (string, error) {
	if len(content) > MaxBytes {
		return "", fmt.Errorf("larger than %d MiB", MaxBytes>>20)
	}
	for _, f := range formats {
		if f.begins(content) {
			if !f.isWhole(content) {
				return "", errWhole
			}
			return f.mediaType, nil
		}
	}
	return "", errType
}

// formats are those that models read.
var formats = []struct {
	mediaType       string
	begins, isWhole func([]byte) bool
}{
	{"image/png", begin("\x89PNG\r\n\x1a\n"), wholePNG},
	{"image/jpeg", begin("\xff\xd8\xff"), wholeJPEG},
	{"image/gif", begin("GIF87a"), wholeGIF},
	{"image/gif", begin("GIF89a"), wholeGIF},
	{"image/webp", beginsWebP, wholeWebP},
}

func beginsWebP(b []byte) bool { return begin("RIFF")(b) && len(b) >= 12 && string(b[8:12]) == "WEBP" }

func begin(with string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(with)) }
}

// URL returns the URL of an image as it can be sent: an http URL as it is, and a data: URL with the media type of its
// content. It fails for any other URL, and for content that is no image.
func URL(text string) (string, error) {
	data, ok := cutData(text)
	if !ok {
		if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			return text, nil
		}
		return "", errURL
	}
	head, encoded, _ := strings.Cut(data, ",")
	if !strings.HasSuffix(head, ";base64") {
		return "", errors.New("expected base64 content")
	}
	content, err := decode(encoded)
	if err != nil {
		return "", errors.New("its base64 is broken")
	}
	mediaType, err := Type(content)
	if err != nil {
		return "", err
	}
	if head == mediaType+";base64" {
		return text, nil
	}
	return Data(mediaType, content), nil
}

// Data returns the data: URL of an image.
func Data(mediaType string, content []byte) string {
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(content)
}

func cutData(text string) (data string, ok bool) {
	if len(text) < 5 || !strings.EqualFold(text[:5], "data:") {
		return "", false
	}
	return text[5:], true
}

// decode decodes base64 with or without padding.
func decode(text string) ([]byte, error) {
	if len(text) > base64.StdEncoding.EncodedLen(MaxBytes+1) {
		return make([]byte, MaxBytes+1), nil // Type states the limit
	}
	if content, err := base64.StdEncoding.DecodeString(text); err == nil {
		return content, nil
	}
	return base64.RawStdEncoding.DecodeString(text)
}

// wholePNG reports whether the chunks begin with a header, have pixels and come to an end.
func wholePNG(b []byte) bool {
	pixels := false
	for at := 8; at+12 <= len(b); {
		size, kind := int64(binary.BigEndian.Uint32(b[at:])), string(b[at+4:at+8])
		next := int64(at) + 12 + size
		switch {
		case next > int64(len(b)):
			return false
		case at == 8 && !(kind == "IHDR" && size == 13 && hasSize(b[at+8:])):
			return false
		case kind == "IDAT":
			pixels = true
		case kind == "IEND":
			return pixels
		}
		at = int(next)
	}
	return false
}

// hasSize reports whether the header of a PNG has a width and a height.
func hasSize(header []byte) bool {
	return binary.BigEndian.Uint32(header) > 0 && binary.BigEndian.Uint32(header[4:]) > 0
}

// wholeJPEG reports whether segments have a frame, and pixels follow them.
func wholeJPEG(b []byte) bool {
	frame := false
	for at := 2; at+4 <= len(b) && b[at] == 0xff; {
		marker := b[at+1]
		if marker == 0xff { // a byte of filling
			at++
			continue
		}
		next := at + 2 + int(binary.BigEndian.Uint16(b[at+2:]))
		switch {
		case next <= at+3 || next > len(b):
			return false
		case marker == 0xda:
			return frame && next < len(b)
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			frame = true
		}
		at = next
	}
	return false
}

// wholeGIF reports whether blocks have an image with pixels.
func wholeGIF(b []byte) bool {
	if len(b) < 13 {
		return false
	}
	at := 13
	if b[10]&0x80 != 0 { // a table of colours
		at += 3 << (b[10]&7 + 1)
	}
	for at < len(b) {
		switch b[at] {
		case 0x21: // an extension
			at = skipBlocks(b, at+2)
		case 0x2c:
			return at+10 < len(b)
		default:
			return false
		}
	}
	return false
}

// skipBlocks returns the index after blocks with their sizes, or the end.
func skipBlocks(b []byte, at int) int {
	for at < len(b) && b[at] != 0 {
		at += int(b[at]) + 1
	}
	return at + 1
}

// wholeWebP reports whether the file has the size that it states, and begins with a known chunk.
func wholeWebP(b []byte) bool {
	if len(b) < 20 || int64(binary.LittleEndian.Uint32(b[4:]))+8 > int64(len(b))+1 {
		return false
	}
	kind, size := string(b[12:16]), int64(binary.LittleEndian.Uint32(b[16:]))
	return (kind == "VP8 " || kind == "VP8L" || kind == "VP8X") && 0 < size && 20+size <= int64(len(b))
}
