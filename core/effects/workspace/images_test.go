package workspace_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/core/pure/imagefile"
	"appserver/protocol"
)

func localImage(path string) protocol.UserInput {
	return protocol.UserInput{UserInputVariant: &protocol.LocalImageInput{Path: path}}
}

// wholeGIF is an image of one pixel.
const wholeGIF = "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"

func TestImageIsADataURLWithItsOwnType(t *testing.T) {
	path := put(t, t.TempDir(), "image.png", wholeGIF)
	images := workspace.Images([]protocol.UserInput{localImage(path)})
	url := "data:image/gif;base64," + base64.StdEncoding.EncodeToString([]byte(wholeGIF))
	require.Equal(t, map[string]core.LocalImage{path: {URL: url}}, images)
}

func TestImagesReadOnlyLocalImages(t *testing.T) {
	path := put(t, t.TempDir(), "a.png", "\x89PNG\r\n\x1a\n")
	images := workspace.Images([]protocol.UserInput{
		{UserInputVariant: &protocol.TextInput{Text: path}},
		{UserInputVariant: &protocol.ImageInput{URL: "http://h/x.png"}},
		{UserInputVariant: &protocol.MentionInput{Path: "/none"}},
		localImage(path), localImage(path),
	})
	require.Len(t, images, 1)

	require.Empty(t, workspace.Images(nil))
}

func TestImagesThatCannotBeSentHaveTheReason(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.png")
	require.NoError(t, os.WriteFile(large, []byte("\x89PNG\r\n\x1a\n"), 0o600))
	require.NoError(t, os.Truncate(large, imagefile.MaxBytes+1))
	for path, why := range map[string]string{
		filepath.Join(dir, "none.png"):                "no such file or directory",
		put(t, dir, "text.png", "not one"):            "not an image that models read: expected PNG, JPEG, GIF or WebP",
		put(t, dir, "short.webp", "RIFF1234"):         "not an image that models read: expected PNG, JPEG, GIF or WebP",
		put(t, dir, "begin.png", "\x89PNG\r\n\x1a\n"): "the image is not whole",
		put(t, dir, "empty.png", ""):                  "not an image that models read: expected PNG, JPEG, GIF or WebP",
		pipe(t, dir, "pipe.png"):                      "not a regular file",
		dir:                                           "not a regular file",
		"/dev/zero":                                   "not a regular file",
		large:                                         "larger than 20 MiB",
		"":                                            "no such file or directory",
	} {
		images := workspace.Images([]protocol.UserInput{localImage(path)})
		require.Equal(t, map[string]core.LocalImage{path: {Problem: why}}, images)
	}
}

func TestImageOfTheLargestSize(t *testing.T) {
	path := put(t, t.TempDir(), "a.gif", wholeGIF)
	require.NoError(t, os.Truncate(path, imagefile.MaxBytes))
	images := workspace.Images([]protocol.UserInput{localImage(path)})
	require.Len(t, images[path].URL, len("data:image/gif;base64,")+base64.StdEncoding.EncodedLen(imagefile.MaxBytes))
}
