package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Dangerous reports whether a shell script removes files by force: whether it calls rm anywhere
// with -f or --force, so that rm does not ask. It looks through programs that run their arguments
// (sudo, env, xargs), and into the text of sh -c.
//
// It is a guard against mistakes, and no security boundary: the sandbox is one. So scripts that
// cannot be parsed are not dangerous.
func Dangerous(script string) bool { return dangerous(script, maxNested) }

// maxNested bounds how deep it looks into scripts and programs within others: each level may parse
// the text twice.
const maxNested = 4

func dangerous(script string, depth int) bool {
	file, ok := parse(withoutDocuments(script))
	if !ok {
		return false
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && !found {
			found = forces(argumentsOf(c), depth)
		}
		return !found
	})
	return found
}

// argumentsOf returns the words of a call, with looseMark for each word with an expansion.
func argumentsOf(c *syntax.CallExpr) []string {
	texts := make([]string, len(c.Args))
	for i, arg := range c.Args {
		w, ok := literal(arg)
		texts[i] = w.text
		if !ok {
			texts[i] = looseMark
		}
	}
	return texts
}

// runners are programs that run their arguments.
var runners = []string{"sudo", "doas", "env", "command", "exec", "nohup", "nice", "timeout", "xargs", "busybox", "eval"}

var shellNames = []string{"sh", "bash", "zsh", "dash"}

// forces reports whether a call removes files by force.
func forces(args []string, depth int) bool {
	if len(args) == 0 || depth == 0 {
		return false
	}
	name, rest := path.Base(args[0]), args[1:]
	switch {
	case name == "rm":
		return slices.ContainsFunc(rest[:flagsEnd(rest)], forceFlag)
	case slices.Contains(shellNames, name):
		return slices.ContainsFunc(rest, func(text string) bool { return dangerous(text, depth-1) })
	case name == "eval" && len(rest) > 0 && dangerous(strings.Join(rest, " "), depth-1):
		return true
	case slices.Contains(runners, name):
		// The number of the runner's own flags is not known, so each word may be the program.
		for i, arg := range rest {
			if program := path.Base(arg); program == "rm" || slices.Contains(shellNames, program) ||
				slices.Contains(runners, program) {
				return forces(rest[i:], depth-1)
			}
		}
	}
	return false
}

// flagsEnd returns the number of arguments before "--".
func flagsEnd(args []string) int {
	if i := slices.Index(args, "--"); i >= 0 {
		return i
	}
	return len(args)
}

// forceFlag reports whether an argument is -f, alone or in a cluster, or --force, abbreviated or
// not.
func forceFlag(arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return len(arg) > 2 && strings.HasPrefix("--force", arg)
	}
	return isFlag(arg) && strings.Contains(arg, "f")
}
