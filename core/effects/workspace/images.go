package workspace

import (
	"appserver/core"
	"appserver/core/pure/imagefile"
	"appserver/protocol"
)

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

// Image returns the data: URL of an image file outside of the closed directories.
func Image(path string, closed ...string) (string, error) { return dataURL(path, closed...) }

func dataURL(path string, closed ...string) (string, error) {
	content, err := readRegular(path, imagefile.MaxBytes+1, closed...)
	if err != nil {
		return "", err
	}
	mediaType, err := imagefile.Type(content)
	if err != nil {
		return "", err
	}
	return imagefile.Data(mediaType, content), nil
}
