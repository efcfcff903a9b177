package command

import (
	"path"

	"appserver/protocol"
)

// The types of actions.
const (
	typeRead    = "read"
	typeList    = "listFiles"
	typeSearch  = "search"
	typeUnknown = "unknown"
)

// Actions describes a shell script for user interfaces: it reads, lists or searches files, with one
// action for each simple command. Commands that only shape the output (echo, | head, | wc -l) have
// none. Command is the text of the action's part of the script. Paths are as in the script,
// relative to its working directory.
//
// A script that is not understood in all its parts is one unknown action with the whole script.
// There is always at least one action.
func Actions(script string) []protocol.CommandAction {
	if found := actions(script); len(found) > 0 {
		return found
	}
	return []protocol.CommandAction{{Type: typeUnknown, Command: script}}
}

// actions returns nil if the script is not understood.
func actions(script string) []protocol.CommandAction {
	file, ok := parse(script)
	if !ok {
		return nil
	}
	all, ok := calls(script, file)
	if !ok {
		return nil
	}
	var found []protocol.CommandAction
	dir := ""
	for _, c := range all {
		name, args := program(c.texts())
		if name == "cd" {
			if dir, ok = enter(dir, args); !ok {
				return nil
			}
			continue
		}
		done, ok := recognise(name, args, c.piped)
		if !ok {
			return nil
		}
		for _, action := range done {
			action.Command = c.source
			found = append(found, within(action, dir, c.piped))
		}
	}
	return found
}

// program splits a call into its program, with the subcommand of git, and the arguments.
func program(texts []string) (string, []string) {
	if texts[0] == "git" && len(texts) > 1 {
		return "git " + texts[1], texts[2:]
	}
	return texts[0], texts[1:]
}

// enter returns the directory after cd, or false for cd without a directory and for cd -.
func enter(dir string, args []string) (string, bool) {
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' {
		return "", false
	}
	return join(dir, args[0]), true
}

// within returns an action in dir, or in the working directory if dir is empty.
func within(a protocol.CommandAction, dir string, piped bool) protocol.CommandAction {
	switch {
	case dir == "":
	case a.Path != nil:
		joined := join(dir, *a.Path)
		a.Path = &joined
	case !piped:
		a.Path = &dir
	}
	return a
}

func join(dir, name string) string {
	if dir == "" || name[0] == '/' || name[0] == '~' {
		return name
	}
	return path.Join(dir, name)
}

// readOf returns the action of reading a file.
func readOf(file string) protocol.CommandAction {
	return protocol.CommandAction{Type: typeRead, Name: path.Base(file), Path: &file}
}

// listOf returns the action of listing the first operand, or the working directory.
func listOf(operands []string) protocol.CommandAction {
	return protocol.CommandAction{Type: typeList, Path: first(operands)}
}

// searchOf returns the action of searching the first operand, or the working directory.
func searchOf(query string, operands []string) protocol.CommandAction {
	return protocol.CommandAction{Type: typeSearch, Query: &query, Path: first(operands)}
}

func first(operands []string) *string {
	if len(operands) == 0 || operands[0] == "" {
		return nil
	}
	return &operands[0]
}
