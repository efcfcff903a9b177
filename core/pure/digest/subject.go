package digest

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core/pure/command"
	"appserver/protocol"
)

// subjectScan bounds the part of a call that is read for its subject, in bytes.
const subjectScan = 64 << 10

// Subject returns the subject of a call for lists: the script of a shell, the files of a patch, or the tool with its
// main argument. printed names what the output is about: the files with their lines, if the script only prints files,
// and else the subject. Both are "" for other items. They may have several lines and any characters.
func Subject(item protocol.ResponseItem) (subject, printed string) {
	c, ok := readCall(item)
	if !ok {
		return "", ""
	}
	if files := patched(c.input); len(files) > 0 {
		subject = "apply_patch " + strings.Join(files, ", ")
		return subject, subject
	}
	if !c.shell {
		subject = strings.TrimSpace(toolTitle(c.tool) + " " + callArgument(c.tool, c.input))
		return subject, subject
	}
	script := cmp.Or(strings.TrimSpace(relative(c.script, c.dir)), toolTitle(c.tool), "shell")
	return script, cmp.Or(filesRead(script), script)
}

// toolTitle returns the name of a tool. That of an MCP server has a dot between the server and the tool.
func toolTitle(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		return strings.Replace(rest, "__", ".", 1)
	}
	return tool
}

// readers are the programs that [command.Reads] knows, and cd.
var readers = map[string]bool{"cat": true, "nl": true, "head": true, "tail": true, "sed": true, "cd": true}

// maxReadScript is the length of the longest script that is parsed for the files that it prints, in bytes.
const maxReadScript = 500

// filesRead returns the files that a script prints, with their lines as in a.go:1-40, if it does nothing else.
func filesRead(script string) string {
	first, _, _ := strings.Cut(script, " ")
	if !readers[first] || len(script) > maxReadScript {
		return ""
	}
	var files []string
	for _, r := range command.Reads(script) {
		switch {
		case r.To != command.LastLine:
			r.Path += ":" + strconv.Itoa(r.From) + "-" + strconv.Itoa(r.To)
		case r.From > 1:
			r.Path += ":" + strconv.Itoa(r.From) + "-"
		}
		files = append(files, r.Path)
	}
	return strings.Join(files, ", ")
}

// callArgument returns the argument of a call by which people know it, or "".
func callArgument(tool, input string) string {
	input = strings.TrimSpace(input)
	if len(input) > subjectScan || !strings.HasPrefix(input, "{") || !gjson.Valid(input) {
		return input
	}
	arguments := gjson.Parse(input)
	if tool == "write_stdin" {
		return strings.TrimSpace(arguments.Get("session_id").String() + " " + arguments.Get("chars").String())
	}
	if steps := arguments.Get("plan"); steps.IsArray() {
		return stepOf(steps)
	}
	if text := mainText(arguments, 0); text != "" || input == "{}" {
		return text
	}
	return input
}

// stepOf returns the step of a plan that is in progress, or the first one.
func stepOf(steps gjson.Result) string {
	first := steps.Get("0.step").String()
	return cmp.Or(steps.Get(`#(status=="in_progress").step`).String(), first)
}

// mainMembers are the members that name the subject of a call, the most telling first.
var mainMembers = []string{"query", "q", "question", "command", "cmd", "file_path", "path", "file", "filename", "url",
	"uri", "pattern", "title", "name", "prompt", "message", "text"}

// maxDepth bounds the objects within objects that are searched.
const maxDepth = 3

// mainText returns the text of the most telling member of an object, or else its first text, or "".
func mainText(value gjson.Result, depth int) (text string) {
	if value.Type == gjson.String {
		return value.Str
	} else if depth > maxDepth || !value.IsObject() && !value.IsArray() {
		return ""
	}
	if value.IsObject() {
		for _, member := range mainMembers {
			if v := value.Get(member); v.Type == gjson.String && v.Str != "" {
				return v.Str
			}
		}
	}
	value.ForEach(func(_, v gjson.Result) bool {
		text = mainText(v, depth+1)
		return text == ""
	})
	return text
}
