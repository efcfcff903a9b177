package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Dangerous tells whether a shell script removes files by force: whether rm is called in
// it, anywhere, with a flag that keeps it from asking (-f, --force). It looks through
// programs that run their arguments (sudo, env, xargs), and into the text of sh -c.
//
// It is a guard against mistakes, not a border: what it overlooks is overlooked by intent
// too, and is left to the sandbox. So scripts that cannot be parsed are not dangerous.
func Dangerous(script string) bool { return dangerous(script, maxNested) }

// maxNested bounds how deep scripts and programs within others are looked into: each step
// may read the text twice.
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

// argumentsOf are the texts of a call's words, looseMark for those that an expansion
// makes.
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

// forces tells whether a call removes files by force.
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
		// Where the flags of the runner end is not known: each word may be the program.
		for i, arg := range rest {
			if program := path.Base(arg); program == "rm" || slices.Contains(shellNames, program) || slices.Contains(runners, program) {
				return forces(rest[i:], depth-1)
			}
		}
	}
	return false
}

// flagsEnd is how many of the arguments come before "--".
func flagsEnd(args []string) int {
	if i := slices.Index(args, "--"); i >= 0 {
		return i
	}
	return len(args)
}

// forceFlag tells whether an argument is -f, alone or among others, or --force, cut short
// or not.
func forceFlag(arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return len(arg) > 2 && strings.HasPrefix("--force", arg)
	}
	return isFlag(arg) && strings.Contains(arg, "f")
}
