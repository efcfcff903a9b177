package toolspec

import (
	"encoding/json"
	"errors"
	"strings"
)

var patchSpec = Spec{
	Name: ApplyPatch,
	Description: "Adds, changes, moves and deletes files with a patch. Either all of it is applied, or none. " +
		"The patch begins with the line \"*** Begin Patch\" and ends with \"*** End Patch\". Each file has a header: " +
		"\"*** Add File: NAME\", followed by the lines of the file, each with a + in front; \"*** Delete File: NAME\"; " +
		"or \"*** Update File: NAME\", optionally \"*** Move to: NAME\", and then hunks. " +
		"A hunk begins with \"@@\", or with \"@@ LINE\", where LINE is an earlier line, such as the head of the function. " +
		"Unchanged lines begin with a space, removed lines with -, added lines with +. " +
		"Give three unchanged lines before and after a change. \"*** End of File\" marks a hunk at the end of the file. " +
		"Names are relative to the working directory.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"input":{"type":"string","description":"The patch."}},` +
		`"required":["input"],"additionalProperties":false}`),
}

// ParsePatch decodes the arguments of apply_patch and returns the text of the patch. A custom call
// has the text itself as arguments.
func ParsePatch(arguments string, custom bool) (string, error) {
	input := arguments
	if !custom {
		a, err := readMembers(arguments)
		if err != nil {
			return "", err
		}
		if input = a.text("input"); a.err != nil {
			return "", a.err
		}
	}
	if strings.TrimSpace(input) == "" {
		return "", errors.New("input is missing")
	}
	return input, nil
}
