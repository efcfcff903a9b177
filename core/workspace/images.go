package workspace

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"appserver/core"
	"appserver/protocol"
)

// MaxImageBytes bounds an image file.
const MaxImageBytes = 20 << 20

var errNotImage = errors.New("not an image that models read: expected PNG, JPEG, GIF or WebP")

// Images reads the local images in the input, by the path that the input gives. Relative
// paths start at the server's working directory.
func Images(inputs []protocol.UserInput) map[string]core.LocalImage {
	images := map[string]core.LocalImage{}
	for _, input := range inputs {
		local, ok := input.UserInputVariant.(*protocol.LocalImageInput)
		if !ok {
			continue
		}
		if _, known := images[local.Path]; known {
			continue
		}
		url, err := dataURL(local.Path)
		if err != nil {
			images[local.Path] = core.LocalImage{Problem: err.Error()}
			continue
		}
		images[local.Path] = core.LocalImage{URL: url}
	}
	return images
}

// Image is the data: URL of an image file outside of the closed directories.
func Image(path string, closed ...string) (string, error) { return dataURL(path, closed...) }

func dataURL(path string, closed ...string) (string, error) {
	content, err := readRegular(path, MaxImageBytes+1, closed...)
	if err != nil {
		return "", err
	}
	if len(content) > MaxImageBytes {
		return "", fmt.Errorf("larger than %d MiB", MaxImageBytes>>20)
	}
	mime := imageType(content)
	if mime == "" {
		return "", errNotImage
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(content), nil
}

// imageType returns the type of an image by its first bytes, or "" for other files.
func imageType(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(content, []byte("GIF87a")), bytes.HasPrefix(content, []byte("GIF89a")):
		return "image/gif"
	case len(content) >= 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
