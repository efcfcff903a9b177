package workspace_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/workspace"
	"appserver/protocol"
)

func localImage(path string) protocol.UserInput {
	return protocol.UserInput{UserInputVariant: &protocol.LocalImageInput{Path: path}}
}

func TestImagesOfEveryType(t *testing.T) {
	dir := t.TempDir()
	for content, mime := range map[string]string{
		"\x89PNG\r\n\x1a\nrest":    "image/png",
		"\xff\xd8\xff\xe0rest":     "image/jpeg",
		"GIF87arest":               "image/gif",
		"GIF89arest":               "image/gif",
		"RIFF\x01\x02\x03\x04WEBP": "image/webp",
	} {
		path := put(t, dir, "image.txt", content)
		images := workspace.Images([]protocol.UserInput{localImage(path)})
		url := "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(content))
		require.Equal(t, map[string]core.LocalImage{path: {URL: url}}, images)
	}
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
	require.NoError(t, os.Truncate(large, workspace.MaxImageBytes+1))
	for path, why := range map[string]string{
		filepath.Join(dir, "none.png"):        "no such file or directory",
		put(t, dir, "text.png", "not one"):    "not an image that models read: expected PNG, JPEG, GIF or WebP",
		put(t, dir, "short.webp", "RIFF1234"): "not an image that models read: expected PNG, JPEG, GIF or WebP",
		put(t, dir, "empty.png", ""):          "not an image that models read: expected PNG, JPEG, GIF or WebP",
		pipe(t, dir, "pipe.png"):              "not a regular file",
		dir:                                   "not a regular file",
		"/dev/zero":                           "not a regular file",
		large:                                 "larger than 20 MiB",
		"":                                    "no such file or directory",
	} {
		images := workspace.Images([]protocol.UserInput{localImage(path)})
		require.Equal(t, map[string]core.LocalImage{path: {Problem: why}}, images)
	}
}

func TestImageOfTheLargestSize(t *testing.T) {
	path := put(t, t.TempDir(), "a.gif", "GIF89a")
	require.NoError(t, os.Truncate(path, workspace.MaxImageBytes))
	images := workspace.Images([]protocol.UserInput{localImage(path)})
	require.Len(t, images[path].URL, len("data:image/gif;base64,")+base64.StdEncoding.EncodedLen(workspace.MaxImageBytes))
}
