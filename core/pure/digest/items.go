package digest

import (
	"path"
	"strings"

	"appserver/core/pure/command"
	"appserver/protocol"

	"github.com/tidwall/gjson"
)

// message is a message with the role of its author.
type message struct{ role, text string }

// surroundings begin the messages in the user's role that the user did not write.
var surroundings = []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions",
	"<turn_aborted>", "<skill>", protocol.PluginsTag, protocol.ToolDefinitionTag, protocol.ReminderHead,
	protocol.AgentNoticeTag}

// spoken reports whether the user or the assistant wrote the message.
func (m message) spoken() bool {
	return m.role == protocol.RoleAssistant || m.role == protocol.RoleUser && ownWords(m.text)
}

// ownWords reports whether the user wrote a message in the user's role.
func ownWords(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range surroundings {
		if strings.HasPrefix(text, mark) {
			return false
		}
	}
	return text != ""
}

func readMessage(item protocol.ResponseItem) (message, bool) {
	m, ok := item.ResponseItemVariant.(*protocol.Message)
	if !ok {
		return message{}, false
	}
	return message{m.Role, partsText(m.Content)}, true
}

// partsText returns the text of parts. An image is a mark.
func partsText(parts []protocol.ContentItem) string {
	if len(parts) == 1 && parts[0].Type != protocol.ContentInputImage {
		return parts[0].Text
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Type == protocol.ContentInputImage {
			texts = append(texts, "[image]")
		} else if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// output is the answer of a tool to a call.
type output struct{ callID, text string }

func readOutput(item protocol.ResponseItem) (output, bool) {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.FunctionCallOutput:
		return output{v.CallID, outputText(v.Output)}, true
	case *protocol.CustomToolCallOutput:
		return output{v.CallID, outputText(v.Output)}, true
	}
	return output{}, false
}

func outputText(o protocol.ToolOutput) string {
	if len(o.Parts) == 0 {
		return o.Text
	}
	return partsText(o.Parts)
}

// call is a tool call.
type call struct {
	id, tool string
	// input is the text that the tool received: a script, a patch, or else its arguments.
	input string
	// script is the script of a shell. shell is set if the call runs one.
	script string
	shell  bool
	// dir is the directory that the arguments name for the script, or "".
	dir string
}

// shellNames are the tools that run scripts, of this program and of others whose
// histories it reads.
var shellNames = map[string]bool{
	"shell": true, "shell_command": true, "exec_command": true, "unified_exec": true,
	"container.exec": true, "local_shell": true, "bash": true,
}

func readCall(item protocol.ResponseItem) (call, bool) {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.FunctionCall:
		return functionCall(v), true
	case *protocol.CustomToolCall:
		return call{id: v.CallID, tool: v.Name, input: v.Input, script: v.Input, shell: shellNames[v.Name]}, true
	case *protocol.LocalShellCall:
		return shellCall(v.CallID, "shell", v.Action.Command), true
	}
	return call{}, false
}

func functionCall(v *protocol.FunctionCall) call {
	c := call{id: v.CallID, tool: v.FullName(), input: v.Arguments}
	if shellNames[v.Name] {
		c.dir = gjson.Get(v.Arguments, "workdir").String()
		for _, member := range []string{"command", "cmd"} {
			switch given := gjson.Get(v.Arguments, member); {
			case given.IsArray():
				inner := shellCall(c.id, c.tool, texts(given))
				inner.dir = c.dir
				return inner
			case given.Type == gjson.String:
				c.input, c.script, c.shell = given.String(), given.String(), true
				return c
			}
		}
	}
	if strings.Contains(v.Arguments, patchMark) {
		c.input = patchIn(v.Arguments)
	}
	return c
}

func texts(list gjson.Result) (all []string) {
	list.ForEach(func(_, value gjson.Result) bool {
		all = append(all, value.String())
		return true
	})
	return all
}

// patchIn returns the member of the arguments that is a patch, or else the arguments.
func patchIn(arguments string) string {
	patch := arguments
	gjson.Parse(arguments).ForEach(func(_, value gjson.Result) bool {
		if value.Type == gjson.String && strings.Contains(value.String(), patchMark) {
			patch = value.String()
			return false
		}
		return true
	})
	return patch
}

// shells are the programs that take a script as an argument.
var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true}

// shellCall returns a call that has an argument vector: of a shell with its script, or of any program.
func shellCall(id, tool string, argv []string) call {
	if len(argv) == 3 && shells[path.Base(argv[0])] && (argv[1] == "-lc" || argv[1] == "-c") {
		return call{id: id, tool: tool, input: argv[2], script: argv[2], shell: true}
	}
	script := command.Quote(argv)
	if len(argv) == 2 && strings.Contains(argv[1], patchMark) {
		return call{id: id, tool: tool, input: argv[1], script: script, shell: true}
	}
	return call{id: id, tool: tool, input: script, script: script, shell: true}
}

// patchMark begins the lines of a patch that name a file, and the first one.
const patchMark = "*** "

// patchLines are the words before the files that a patch changes.
var patchLines = []string{"Add File: ", "Update File: ", "Delete File: ", "Move to: "}

// patched returns the files that the patches in a text name. Only lines that begin with the marks
// count. The text of a file within a patch never begins with one.
func patched(text string) (files []string) {
	if !strings.Contains(text, "*** Begin Patch") {
		return nil
	}
	for line := range strings.Lines(text) {
		line, marked := strings.CutPrefix(line, patchMark)
		if !marked {
			continue
		}
		for _, kind := range patchLines {
			if file, ok := strings.CutPrefix(line, kind); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}

// relative returns a text without a working directory: paths below it are relative, and a script does not begin with
// a change to it.
func relative(text, dir string) string {
	if len(dir) < 2 || !strings.Contains(text, dir) {
		return text
	}
	if rest, found := strings.CutPrefix(strings.TrimSpace(text), "cd "+dir); found {
		for _, next := range []string{" && ", "; ", "\n"} {
			if script, found := strings.CutPrefix(rest, next); found {
				text = script
				break
			}
		}
	}
	var b strings.Builder
	from := 0
	for at := range indices(text, dir+"/") {
		if at > 0 && pathByte(text[at-1]) {
			continue
		}
		b.WriteString(text[from:at])
		from = at + len(dir) + len("/")
	}
	return b.String() + text[from:]
}
