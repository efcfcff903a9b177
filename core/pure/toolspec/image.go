package toolspec

import (
	"encoding/json"
	"errors"
	"path/filepath"
)

// ViewImage is the name of the tool that shows an image to the model.
const ViewImage = "view_image"

// ImageSpec describes the tool view_image.
var ImageSpec = Spec{
	Name:        ViewImage,
	Description: "Shows you an image file of the user's machine: PNG, JPEG, GIF or WebP.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"The file. A relative path begins at the working directory."}},` +
		`"required":["path"],"additionalProperties":false}`),
}

// ParseImage decodes the arguments of view_image and returns the path of the file. A relative path
// begins at cwd.
func ParseImage(arguments, cwd string) (string, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return "", err
	}
	switch path := a.text("path"); {
	case a.err != nil:
		return "", a.err
	case path == "":
		return "", errors.New("path is missing")
	case filepath.IsAbs(path):
		return path, nil
	default:
		return filepath.Join(cwd, path), nil
	}
}
