package digest

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"appserver/core/pure/history"
	"appserver/platform/excerpt"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// tellingScan bounds the part of a text that is searched for its first telling line, and each end of an output that
// is searched for the cause of a failure, in bytes.
const tellingScan = 8 << 10

// Telling returns the text of an item for lists, from its first telling line on. subject is the script of a command
// that the user ran, the author of a message of another agent, and "" for other items. The text of a call is "". Both
// may have several lines and any characters.
func Telling(item protocol.ResponseItem) (subject, text string) {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		return tellingMessage(v.Role, partsText(v.Content))
	case *protocol.Reasoning:
		return "", strings.ReplaceAll(reasoningText(v), "**", "")
	case *protocol.FunctionCallOutput:
		return "", tellingOutput(outputText(v.Output))
	case *protocol.CustomToolCallOutput:
		return "", tellingOutput(outputText(v.Output))
	case *protocol.Unknown:
		if m, ok := protocol.ReadPeerMessage(item); ok {
			return m.Author, m.Payload
		}
		return "", tellingOther(v)
	}
	return "", ""
}

func reasoningText(r *protocol.Reasoning) string {
	for _, part := range append(append([]protocol.ReasoningText{}, r.Summary...), r.Content...) {
		if strings.TrimSpace(part.Text) != "" {
			return excerpt.Prefix(part.Text, tellingScan)
		}
	}
	return ""
}

// outputHeads begin the outputs of this program and of others that have a head before the output of the tool.
var outputHeads = []string{"Exit code: ", "Wall time: ", "Chunk ID: ", "The command was ended: ", "The command did not finish"}

// tellingOutput returns the outcome of a tool, unless it succeeded, and its output from the first telling line on.
func tellingOutput(output string) string {
	head, body := splitOutput(output)
	how := ""
	if head != "" {
		how = failure(head)
	}
	if how != "" && how != notRun {
		if cause := causeOf(body, tellingScan); cause != "" {
			how += ": " + cause
		}
		return how
	}
	if files, patched := strings.CutPrefix(strings.TrimSpace(body), "Success. Updated the following files:"); patched {
		return "applied: " + strings.TrimSpace(files)
	}
	text := fromTellingLine(body)
	switch {
	case text == "" && head != "":
		text = "no output"
	case strings.Contains(head, "\nProcess running with session ID "):
		text = strings.TrimSuffix("still running: "+text, ": ")
	}
	return text
}

// splitOutput returns the head of an output, which reports how the tool ended, and the output of the tool itself.
func splitOutput(output string) (head, body string) {
	if strings.HasPrefix(output, "{") {
		if gjson.Get(output, "metadata.exit_code").Exists() {
			return output, gjson.Get(output, "output").String()
		}
		return "", output
	}
	for _, begin := range outputHeads {
		if strings.HasPrefix(output, begin) {
			return output[:min(len(output), outputHead)], bodyOf(output)
		}
	}
	return "", output
}

// fromTellingLine returns a text from the first line on that has a letter or a digit, or "" if none has.
func fromTellingLine(text string) string {
	rest := text
	for line := range strings.Lines(excerpt.Prefix(text, tellingScan)) {
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return rest
		}
		rest = rest[len(line):]
	}
	return strings.TrimSpace(text)
}

// tellingMessage returns the text of a message. The user's own words and those of the model stay as they are.
func tellingMessage(role, text string) (subject, told string) {
	text = strings.TrimSpace(text)
	if role == protocol.RoleAssistant {
		return "", text
	}
	switch {
	case strings.HasPrefix(text, strings.TrimSpace(history.SummaryHead)):
		return "", text[len(strings.TrimSpace(history.SummaryHead)):]
	case strings.HasPrefix(text, history.EnvironmentTag):
		return "", membersOf(text)
	case strings.HasPrefix(text, history.ShellTag):
		script, result := inTag(text, "command"), inTag(text, "result")
		_, output, _ := strings.Cut(result, "\nOutput:")
		if how := failure(result); how != "" {
			return script, strings.TrimSuffix(how+": "+causeOf(output, tellingScan), ": ")
		}
		return script, fromTellingLine(output)
	case strings.HasPrefix(text, protocol.ToolDefinitionTag):
		return "", definitionOf(text)
	}
	if role != protocol.RoleUser || !ownWords(text) {
		tag := leadingTag().FindString(excerpt.Prefix(text, tellingScan))
		text = strings.Replace(text[len(tag):], "\n<INSTRUCTIONS>\n", "\n", 1)
		for end := text; ; text = end { // the end tags
			at := strings.LastIndex(end, "</")
			if at < 0 || len(end)-at > maxTag || !strings.HasSuffix(end, ">") {
				break
			}
			end = strings.TrimSpace(end[:at])
		}
	}
	return "", text
}

// maxTag is the length of the longest tag that is left out.
const maxTag = 40

// leadingTag matches the tag that begins a message by which a program informs the model.
var leadingTag = pattern.New(`^<[a-z][a-z_ ]{0,40}>\s`)

// member matches a member of the environment on a line of its own.
var member = pattern.New(`(?m)^\s*<(\w+)>([^<]*)</\w+>\s*$`)

// membersOf returns the members of an environment context as "cwd /work, shell bash", or the text if it has none.
func membersOf(text string) string {
	var members []string
	for _, m := range member().FindAllStringSubmatch(excerpt.Prefix(text, tellingScan), -1) {
		members = append(members, m[1]+" "+html.UnescapeString(m[2]))
	}
	if len(members) == 0 {
		return text
	}
	return strings.Join(members, ", ")
}

// inTag returns the text in a tag, which ends at its last end tag.
func inTag(text, tag string) string {
	_, text, _ = strings.Cut(text, "<"+tag+">")
	if end := strings.LastIndex(text, "</"+tag+">"); end >= 0 {
		text = text[:end]
	}
	return strings.TrimSpace(text)
}

// definitionOf returns the name and the description of a tool by its definition, or the text if that is not known.
func definitionOf(text string) string {
	_, body, _ := strings.Cut(text, "\n")
	body, _, _ = strings.Cut(body, "\n</tool_definition>")
	name := gjson.Get(body, "name").String()
	if !gjson.Valid(body) || name == "" {
		return text
	}
	return strings.TrimSuffix(toolTitle(name)+": "+gjson.Get(body, "description").String(), ": ")
}

// tellingOther returns the text for an item that only the API of its provider has: a search, or an image.
func tellingOther(v *protocol.Unknown) string {
	get := func(path string) string { return gjson.GetBytes(v.Raw, path).String() }
	switch v.Tag {
	case "web_search_call":
		return strings.TrimSuffix("web search: "+searchedFor(get), ": ")
	case "image_generation_call":
		return strings.TrimSuffix("image generation: "+get("revised_prompt"), ": ")
	}
	return string(v.Raw)
}

// searchedFor returns the subject of a web search: its query, the page that it opened, or a pattern in a page.
func searchedFor(get func(path string) string) string {
	url, wanted := get("action.url"), get("action.pattern")
	switch {
	case wanted != "":
		return fmt.Sprintf("%s in %s", wanted, url)
	case url != "":
		return url
	case get("action.query") != "":
		return get("action.query")
	}
	return get("action.queries.0")
}
