package digest

import (
	"path"

	"appserver/core/pure/command"
	"appserver/protocol"
)

// Call is a call of a tool. Input is the script or the patch that the tool received, or else its
// arguments. Shell is set if Input is the script of a shell, and Dir is the directory that its arguments name, or
// "". Patched are the files that a patch in the input names.
type Call struct {
	Tool, Input string
	Shell       bool
	Dir         string
	Patched     []string
}

// ScriptIn returns the script of a shell as it would be in a directory: it begins with a change to the call's own
// directory if that is another one.
func (c Call) ScriptIn(cwd string) string { return scriptIn(c.Input, c.Dir, cwd) }

func scriptIn(script, own, cwd string) string {
	own = path.Clean(own) // "." if it is empty
	if own == "." || own == path.Clean(cwd) {
		return script
	}
	return "cd " + command.Quote([]string{own}) + " && " + script
}

// CallOf returns the call of an item, or false if it is none.
func CallOf(item protocol.ResponseItem) (Call, bool) {
	c, ok := readCall(item)
	if !ok {
		return Call{}, false
	}
	return Call{Tool: c.tool, Input: c.input, Shell: c.shell, Dir: c.dir, Patched: patched(c.input)}, true
}

// OutputOf returns the text of a tool's output, or false if the item is none.
func OutputOf(item protocol.ResponseItem) (text string, ok bool) {
	o, ok := readOutput(item)
	return o.text, ok
}

// Failed reports whether an output reports a failure.
func Failed(output string) bool { return failure(output) != "" }

// NotRun reports whether an output reports that its call did nothing.
func NotRun(output string) bool { return failure(output) == notRun }
