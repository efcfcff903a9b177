package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is a word of a simple command, as a rule sees it.
type Word struct {
	// Text is the word, or the beginning of it that is certain.
	Text string
	// Known is set if Text is the whole word. Other words have expansions, or patterns for file names.
	Known bool
	// Base is the name after the last slash of a word whose beginning alone is unknown, or "".
	Base string
}

// unknownCommand is a command of which nothing is certain.
var unknownCommand = []Word{{}}

// Programs returns the simple commands that a script may run: those of the script, also in loops, functions and
// substitutions, those of programs that run their arguments (sudo, env, xargs), and those in the text of sh -c. It
// returns more commands if it is not certain where the arguments of such a program begin. A part that it cannot
// read is a command of one unknown word.
//
// It reads the text alone. Programs, scripts in files, and what a shell reads later are not known to it.
func Programs(script string) [][]Word {
	p := &programs{left: maxPrograms}
	p.script(script, maxNested)
	return p.found
}

// maxPrograms bounds the commands that Programs returns. A script with more ends with an unknown command.
const maxPrograms = 1000

type programs struct {
	found [][]Word
	left  int
}

func (p *programs) add(words []Word) {
	if p.left == 0 {
		return
	}
	if p.left--; p.left == 0 {
		words = unknownCommand
	}
	p.found = append(p.found, words)
}

func (p *programs) script(script string, depth int) {
	if p.left == 0 {
		return
	}
	file, ok := parse(script)
	if !ok || !plain(script) || depth == 0 {
		p.add(unknownCommand)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			p.call(wordsOf(c), depth)
		}
		return p.left > 0
	})
}

// isRunner reports whether a program runs its arguments, or a text among them.
func isRunner(name string) bool {
	switch name {
	case "builtin", "setsid", "stdbuf", "ionice", "chrt", "taskset", "time", "watch", "parallel", "strace", "ltrace", "script",
		"flock", "unshare", "nsenter", "chroot", "su", "runuser", "pkexec", "systemd-run", "trap", "find", "fd", "alias":
		return true
	}
	return slices.Contains(runners, name)
}

// runsText reports whether an argument of a runner can be a script.
func runsText(name string) bool {
	switch name {
	case "eval", "watch", "parallel", "script", "flock", "su", "runuser", "trap", "alias", "env":
		return true
	}
	return false
}

func isShell(name string) bool {
	switch name {
	case "ash", "ksh", "mksh", "fish", "pwsh", "powershell":
		return true
	}
	return slices.Contains(shellNames, name)
}

// IsBourne reports whether a shell reads words as a Bourne shell does.
func IsBourne(shell string) bool {
	name := ShellName(shell)
	return isShell(name) && kindOf(shell) == bourne
}

func (p *programs) call(words []Word, depth int) {
	p.add(words)
	if !words[0].Known || depth == 0 || p.left == 0 {
		return
	}
	name, rest := ShellName(path.Base(words[0].Text)), words[1:]
	switch {
	case isShell(name):
		p.shell(rest, depth)
	case isRunner(name):
		p.runner(name, rest, depth)
	}
}

// shell adds the commands of a shell. A shell without operands reads its script from the input.
func (p *programs) shell(args []Word, depth int) {
	operands := false
	for _, arg := range args {
		switch {
		case !arg.Known:
			p.add(unknownCommand)
			operands = true
		case strings.HasPrefix(arg.Text, "-") || strings.HasPrefix(arg.Text, "+"):
		default:
			p.script(arg.Text, depth-1)
			operands = true
		}
	}
	if !operands {
		p.add(unknownCommand)
	}
}

// runner adds the commands that begin with each of the arguments, since the flags of the runner are not known.
func (p *programs) runner(name string, args []Word, depth int) {
	for i, arg := range args {
		before := i > 0 && args[i-1].Known
		switch {
		case name == "find" || name == "fd":
			if before && slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"},
				args[i-1].Text) {
				p.call(args[i:], depth-1)
			}
			continue
		case arg.Known && strings.HasPrefix(arg.Text, "-") && !strings.ContainsAny(arg.Text, " \t\n"):
			continue
		case name == "xargs":
			p.call(append(slices.Clip(args[i:]), Word{}), depth-1)
		default:
			p.call(args[i:], depth-1)
		}
		p.text(name, arg, depth)
	}
	if name == "eval" {
		p.joined(args, depth)
	}
}

// text adds the commands of an argument that can be a script.
func (p *programs) text(name string, arg Word, depth int) {
	if !runsText(name) || !arg.Known {
		return
	}
	text := arg.Text
	if name == "alias" {
		if _, value, ok := strings.Cut(text, "="); ok {
			text = value + ` "$@"`
		}
	}
	if strings.ContainsAny(text, " \t\n;|&") {
		p.script(text, depth-1)
	}
}

// joined adds the commands of eval, which joins its arguments.
func (p *programs) joined(args []Word, depth int) {
	var texts []string
	for _, arg := range args {
		if !arg.Known {
			p.add(unknownCommand)
			return
		}
		texts = append(texts, arg.Text)
	}
	p.script(strings.Join(texts, " "), depth-1)
}

func wordsOf(c *syntax.CallExpr) []Word {
	words := make([]Word, len(c.Args))
	for i, arg := range c.Args {
		words[i] = wordOf(arg)
	}
	return words
}

func wordOf(w *syntax.Word) Word {
	if whole, ok := literal(w); ok {
		if !whole.loose || whole.text == "[" {
			return Word{Text: whole.text, Known: true}
		}
		if replaced(w) {
			return Word{}
		}
		active := strings.IndexAny(whole.text, `*?[{}$\`)
		if active < 0 { // only other shells read it in another way
			return Word{Text: whole.text, Known: true}
		}
		return Word{Text: whole.text[:active]}
	}
	var out Word
	last := len(w.Parts) - 1
	if first, ok := literalPart(w.Parts[0], false); ok && !first.loose && !strings.HasPrefix(first.text, "=") {
		out.Text = first.text
	}
	if end, ok := literalPart(w.Parts[last], true); ok && !end.loose && strings.Contains(end.text, "/") {
		out.Base = path.Base(end.text)
	}
	return out
}
