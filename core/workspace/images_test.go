package workspace_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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
		images, err := workspace.Images([]protocol.UserInput{localImage(path)})
		require.NoError(t, err)
		require.Equal(t, map[string]string{path: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(content))}, images)
	}
}

func TestImagesReadOnlyLocalImages(t *testing.T) {
	path := put(t, t.TempDir(), "a.png", "\x89PNG\r\n\x1a\n")
	images, err := workspace.Images([]protocol.UserInput{
		{UserInputVariant: &protocol.TextInput{Text: path}},
		{UserInputVariant: &protocol.ImageInput{URL: "http://h/x.png"}},
		{UserInputVariant: &protocol.MentionInput{Path: "/none"}},
		localImage(path), localImage(path),
	})
	require.NoError(t, err)
	require.Len(t, images, 1)

	images, err = workspace.Images(nil)
	require.NoError(t, err)
	require.Empty(t, images)
}

func TestImagesErrorsNameThePathAndTheReason(t *testing.T) {
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
		text := protocol.UserInput{UserInputVariant: &protocol.TextInput{}}
		_, err := workspace.Images([]protocol.UserInput{text, localImage(path)})
		require.EqualError(t, err, "Invalid request: `input.1.path`: image "+path+" cannot be sent: "+why)
		var refusal *protocol.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
		require.Equal(t, "input.1.path", refusal.Data.Field)
	}
}

func TestImageOfTheLargestSize(t *testing.T) {
	path := put(t, t.TempDir(), "a.gif", "GIF89a")
	require.NoError(t, os.Truncate(path, workspace.MaxImageBytes))
	images, err := workspace.Images([]protocol.UserInput{localImage(path)})
	require.NoError(t, err)
	require.Len(t, images[path], len("data:image/gif;base64,")+base64.StdEncoding.EncodedLen(workspace.MaxImageBytes))
}
