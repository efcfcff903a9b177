package toolspec

import (
	"encoding/json"
	"errors"
	"strings"
)

// ApplyPatch is the name of the tool that changes files.
const ApplyPatch = "apply_patch"

// PatchSpec describes the tool apply_patch.
var PatchSpec = Spec{
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

// ParsePatch decodes the arguments of apply_patch. It returns the text of the patch and the directory of its names,
// which is cwd. A custom call has the text itself as arguments. Some models send a shell script that applies the
// patch, as they do to the shell: it counts in the same way.
func ParsePatch(cwd, arguments string, custom bool) (dir, text string, err error) {
	text = arguments
	if !custom {
		a, err := readMembers(arguments)
		if err != nil {
			return "", "", err
		}
		if text = a.text("input"); a.err != nil {
			return "", "", a.err
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", "", errors.New("input is missing")
	}
	if script := (&Command{Script: text, Cwd: cwd}); !isPatch(text) {
		if dir, inner, ok := script.Patch(); ok {
			return dir, inner, nil
		}
	}
	return cwd, text, nil
}

// isPatch reports whether a text begins as a patch does.
func isPatch(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "***") }
