package command

import (
	"path"
	"strings"

	"appserver/platform/pattern"
)

// special matches the names of folders that lead to other processes: /proc, and /dev with its links to it.
var special = pattern.New(`(^|[^\w.-])(proc|dev)([^\w.-]|$)`)

// revealing reports whether an argument of a program in dir may name the environment of another process, which can
// contain keys. dir is empty if it is not known. Only the text is compared: links can lead anywhere.
func revealing(dir, text string) bool {
	atRoot := dir == "" || path.Clean(dir) == "/"
	if text == "/dev/null" {
		return false
	} else if atRoot && strings.HasPrefix(text, "-") && strings.Contains(text, "proc/") {
		return true // the value of a flag
	}
	for at := 0; at < len(text); {
		found := special().FindStringSubmatchIndex(text[at:])
		if found == nil {
			return false
		}
		name := at + found[4]
		if leadsOut(atRoot, text[:name], text[name:at+found[5]] == "proc") {
			return true
		}
		at = name + 1
	}
	return false
}

// pathStart matches what can precede a path in an argument: a flag with its value, or another value.
var pathStart = pattern.New(`^-\w+|.*[=:,]`)

// leadsOut reports whether the folder named proc or dev that follows the text before is one of the system. /proc can
// also be mounted below another folder.
func leadsOut(atRoot bool, before string, proc bool) bool {
	if strings.Contains(before, "..") || strings.HasPrefix(before, "~") {
		return true
	}
	before = pathStart().ReplaceAllString(before, "")
	switch {
	case strings.HasPrefix(before, "/"):
		return proc || path.Clean(before) == "/"
	case atRoot:
		return path.Clean(before) == "."
	}
	return false
}
