package imagefile_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/imagefile"
)

// whole returns images of each type.
func whole(t *testing.T) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	require.NoError(t, png.Encode(&p, picture))
	require.NoError(t, jpeg.Encode(&j, picture, nil))
	require.NoError(t, gif.Encode(&g, picture, nil))
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	require.NoError(t, err)
	return map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes(), "image/webp": webp}
}

func TestImagesThatModelsReadAreWhole(t *testing.T) {
	for mediaType, content := range whole(t) {
		got, err := imagefile.Type(content)
		require.NoError(t, err, mediaType)
		require.Equal(t, mediaType, got)
		for _, cut := range []int{len(content) / 4, 16} {
			_, err = imagefile.Type(content[:cut])
			require.Error(t, err, "%s of %d bytes", mediaType, cut)
		}
	}
}

func TestOtherContentIsNoImage(t *testing.T) {
	for name, content := range map[string]string{
		"nothing": "", "text": "not an image", "SVG": "<svg xmlns='http://www.w3.org/2000/svg'/>", "BMP": "BM" + strings.Repeat("\x00", 60),
		"TIFF": "II*\x00" + strings.Repeat("\x00", 60), "HEIC": "\x00\x00\x00\x18ftypheic", "AVIF": "\x00\x00\x00\x18ftypavif",
		"icon": "\x00\x00\x01\x00\x01\x00", "PDF": "%PDF-1.7\n", "begin of PNG": "\x89PNG\r\n\x1a\n",
		"begin of JPEG": "\xff\xd8\xff\xe0\x00\x10JFIF" + strings.Repeat("\x00", 40), "begin of GIF": "GIF89a",
		"begin of WebP": "RIFF\x10\x00\x00\x00WEBP", "sound": "RIFF\x10\x00\x00\x00WAVEfmt ", "endless JPEG": "\xff\xd8\xff\xe0\x00\x00",
		"PNG of no width": "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + strings.Repeat("\x00", 40),
		"PNG of 4 GB":     "\x89PNG\r\n\x1a\n\xff\xff\xff\xffIHDR" + strings.Repeat("\x00", 40),
	} {
		_, err := imagefile.Type([]byte(content))
		require.Error(t, err, name)
	}
}

func TestURLsOfImages(t *testing.T) {
	picture := base64.StdEncoding.EncodeToString(whole(t)["image/png"])
	for text, want := range map[string]string{
		"data:image/png;base64," + picture:                         "data:image/png;base64," + picture,
		"data:image/jpeg;base64," + picture:                        "data:image/png;base64," + picture,
		"DATA:;base64," + picture:                                  "data:image/png;base64," + picture,
		"data:image/png;base64," + strings.TrimRight(picture, "="): "data:image/png;base64," + picture,
		"https://example.com/a.png?b":                              "https://example.com/a.png?b",
		"":                                                         "", "file:///etc/hostname": "", "javascript:1": "", "https://": "", "data:image/png;base64,!!!": "",
		"data:image/svg+xml;base64,PHN2Zy8+": "", "data:text/plain;base64,aGk=": "", "data:image/png," + picture: "", "data:": "",
		"data:image/png;base64," + strings.Repeat("A", 30<<20): "",
	} {
		got, err := imagefile.URL(text)
		require.Equal(t, want == "", err != nil, "%.60s: %v", text, err)
		require.Equal(t, want, got, "%.60s", text)
	}
}

func FuzzType(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x10JFIF"))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00!\xf9\x04\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		mediaType, err := imagefile.Type(content)
		require.Equal(t, err != nil, mediaType == "")
	})
}
