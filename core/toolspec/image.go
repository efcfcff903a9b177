package toolspec

import (
	"encoding/json"
	"errors"
	"path/filepath"

	"appserver/protocol"
)

var imageSpec = Spec{
	Name:        ViewImage,
	Description: "Shows you an image file of the user's machine: PNG, JPEG, GIF or WebP.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"The file. A relative path begins at the working directory."}},` +
		`"required":["path"],"additionalProperties":false}`),
}

// ParseImage decodes the arguments of view_image and returns the path of the file. A relative path
// begins at cwd.
func ParseImage(arguments, cwd string) (string, error) {
	var a struct {
		Path string `json:"path"`
	}
	if err := protocol.Unmarshal([]byte(arguments), &a); err != nil {
		return "", err
	}
	switch {
	case a.Path == "":
		return "", errors.New("path is missing")
	case filepath.IsAbs(a.Path):
		return a.Path, nil
	}
	return filepath.Join(cwd, a.Path), nil
}
