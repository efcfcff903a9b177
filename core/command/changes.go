package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Changes are the files that a shell script writes, makes, moves or removes, as far
// as its text tells, each once, in the order of the text: targets of redirections
// and of tee, and what rm, rmdir, mv, cp, touch, mkdir, sed -i, git mv and git rm
// are called on. Paths are as the script gives them, relative to the directory that
// it starts in.
//
// Unlike Actions and Safe it takes what it understands of any script. It passes over
// names that an expansion or a pattern would complete, devices, and scripts that
// cannot be parsed.
func Changes(script string) []string {
	file, ok := parse(withoutDocuments(script))
	if !ok {
		return nil
	}
	found := changes{}
	syntax.Walk(file, found.visit)
	return found.files
}

// heredoc is the beginning of a here-document; the second group is its end.
var heredoc = regexp.MustCompile(`(?:^|[^<])<<-?[ \t]*(['"]?)([A-Za-z_]\w*)['"]?`)

// withoutDocuments leaves the bodies of here-documents out of a script that is too
// long to be parsed: most long ones write a file so.
func withoutDocuments(script string) string {
	if len(script) <= maxScript {
		return script
	}
	var left strings.Builder
	for rest := script; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		left.WriteString(line)
		if opened := heredoc.FindStringSubmatch(line); opened != nil {
			rest = fromEnd(rest, opened[2])
		}
	}
	return left.String()
}

// cutLine splits after the first newline.
func cutLine(text string) (line, rest string) {
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		return text[:end+1], text[end+1:]
	}
	return text, ""
}

// fromEnd is the script from the line that ends a here-document, "" where none does:
// looking further would take long.
func fromEnd(script, end string) string {
	for script != "" {
		line, after := cutLine(script)
		if strings.Trim(line, "\t\r\n") == end {
			break
		}
		script = after
	}
	return script
}

// changes collects the files that a script changes.
type changes struct {
	files []string
	// dir is where the script is, "" for where it starts or where that is not known.
	dir string
	// outside are the nodes around the visited one, each with the directory before it.
	outside []place
}

type place struct {
	subshell bool
	dir      string
}

// visit is called with each node, and with nil after the node's children.
func (c *changes) visit(n syntax.Node) bool {
	if n == nil {
		last := c.outside[len(c.outside)-1]
		c.outside = c.outside[:len(c.outside)-1]
		if last.subshell {
			c.dir = last.dir
		}
		return true
	}
	_, subshell := n.(*syntax.Subshell)
	_, substituted := n.(*syntax.CmdSubst)
	c.outside = append(c.outside, place{subshell || substituted, c.dir})
	switch n := n.(type) {
	case *syntax.Redirect:
		c.redirection(n)
	case *syntax.CallExpr:
		c.call(n)
	}
	return true
}

func (c *changes) redirection(r *syntax.Redirect) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		if target, ok := literal(r.Word); ok {
			c.add(target)
		}
	}
}

// add notes a file, unless it is a device, a flag, or not known by its name.
func (c *changes) add(file word) {
	if file.loose || file.text == "" || file.text[0] == '-' || strings.HasPrefix(file.text, "/dev/") {
		return
	}
	if name := join(c.dir, file.text); !slices.Contains(c.files, name) {
		c.files = append(c.files, name)
	}
}

func (c *changes) call(call *syntax.CallExpr) {
	args := make([]word, 0, len(call.Args))
	for _, arg := range call.Args {
		w, ok := literal(arg)
		w.loose = w.loose || !ok
		args = append(args, w)
	}
	for len(args) > 1 && slices.Contains([]string{"sudo", "command", "nohup"}, args[0].text) {
		args = args[1:]
	}
	if len(args) == 0 || args[0].loose {
		return
	}
	if args[0].text == "cd" {
		c.enter(args[1:])
		return
	}
	for _, file := range changed(args) {
		c.add(file)
	}
}

// enter follows cd. Where it leads to an unknown place, paths are given as they are.
func (c *changes) enter(args []word) {
	texts := call{args: args}.texts()
	dir, ok := enter(c.dir, texts)
	if !ok || args[0].loose {
		dir = ""
	}
	c.dir = dir
}

// changed are the operands of a call that name what it changes.
func changed(args []word) []word {
	name, rest := program(call{args: args}.texts())
	args = args[len(args)-len(rest):]
	switch name {
	case "tee", "rm", "rmdir", "git rm":
		return operands(args, "")
	case "touch":
		return operands(args, "-t -r -d --reference --date")
	case "mkdir":
		return operands(args, "-m --mode")
	case "cp":
		return copied(args)
	case "mv", "git mv":
		return append(operands(args, "-t -S --target-directory --suffix"), copied(args)...)
	case "sed":
		return edited(args)
	}
	return nil
}

// operands are the arguments that are no flags, nor the values of those that take
// one. Where a pattern or an expansion may stand for a flag's value they are none.
func operands(args []word, valued string) []word {
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = arg.text
		if arg.loose {
			texts[i] = looseMark
		}
	}
	var found []word
	for _, text := range getopt(texts, valued).operands {
		found = append(found, word{text, text == looseMark})
	}
	return found
}

// looseMark stands for an argument whose value is not known: no argument holds a NUL.
const looseMark = "\x00"

// copied is what cp and mv make: the last operand, or what they put into it where
// that is surely a directory.
func copied(args []word) []word {
	all := operands(args, "-t -S --target-directory --suffix")
	if len(all) < 2 {
		return nil
	}
	target, sources := all[len(all)-1], all[:len(all)-1]
	if target.loose || len(sources) == 1 && !strings.HasSuffix(target.text, "/") {
		return []word{target}
	}
	var made []word
	for _, source := range sources {
		made = append(made, word{path.Join(target.text, path.Base(source.text)), source.loose})
	}
	return made
}

// edited are the files of sed -i. The empty operand is the suffix that some seds want.
func edited(args []word) []word {
	inPlace, scripted := false, false
	var rest []word
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg.text, "-i"), strings.HasPrefix(arg.text, "--in-place"):
			inPlace = true
			continue
		case arg.text == "" && !arg.loose:
			continue
		}
		given := getopt([]string{arg.text, ""}, sedValued)
		scripted = scripted || given.has("-e", "--expression", "-f", "--file")
		inPlace = inPlace || given.has("-i")
		rest = append(rest, arg)
	}
	files := operands(rest, sedValued)
	if !scripted && len(files) > 0 {
		files = files[1:]
	}
	if !inPlace {
		return nil
	}
	return files
}

// sedValued are the flags of sed that take the next argument.
const sedValued = "-e -f -l --expression --file --line-length"
