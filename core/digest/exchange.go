package digest

import "appserver/protocol"

// Call is a call of a tool. Input is the script or the patch that the tool received, or else its
// arguments. Shell is set if Input is the script of a shell. Patched are the files that a patch in the
// input names.
type Call struct {
	Tool, Input string
	Shell       bool
	Patched     []string
}

// CallOf returns the call of an item, or false if it is none.
func CallOf(item protocol.ResponseItem) (Call, bool) {
	c, ok := readCall(item)
	if !ok {
		return Call{}, false
	}
	return Call{Tool: c.tool, Input: c.input, Shell: c.shell, Patched: patched(c.input)}, true
}

// OutputOf returns the text of a tool's output, or false if the item is none.
func OutputOf(item protocol.ResponseItem) (text string, ok bool) {
	o, ok := readOutput(item)
	return o.text, ok
}

// Failed reports whether an output reports a failure.
func Failed(output string) bool { return failure(output) != "" }
