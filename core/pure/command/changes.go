package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"appserver/platform/pattern"
)

// Changes returns the files that a shell script writes, creates, moves or removes, as far as its
// text shows, each once, in the order of the text. They are the targets of redirections and of tee,
// and the operands of rm, rmdir, mv, cp, touch, mkdir, sed -i, git mv and git rm. Paths are as in
// the script, relative to its working directory.
//
// Unlike Actions and Safe, it uses the parts of a script that it understands. It skips names with
// expansions or patterns, devices, and scripts that cannot be parsed.
func Changes(script string) []string {
	file, ok := parse(withoutDocuments(script))
	if !ok {
		return nil
	}
	found := changes{}
	syntax.Walk(file, found.visit)
	return found.files
}

// heredoc matches the start of a here-document; its second group is the end word.
var heredoc = pattern.New(`(?:^|[^<])<<-?[ \t]*(['"]?)([A-Za-z_]\w*)['"]?`)

// withoutDocuments removes the bodies of here-documents from a script that is too long for the
// parser. Most long scripts write a file in this way.
func withoutDocuments(script string) string {
	if len(script) <= maxScript {
		return script
	}
	var left strings.Builder
	for rest := script; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		left.WriteString(line)
		if opened := heredoc().FindStringSubmatch(line); opened != nil {
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

// fromEnd returns the script from the line that ends a here-document, or "" if no line does.
// Searching further for other documents would take quadratic time.
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
	// dir is the current directory of the script, or empty if it is the first one or not known.
	dir string
	// outside are the nodes around the visited one, each with the directory before it.
	outside []place
}

type place struct {
	subshell bool
	dir      string
}

// visit receives each node, and nil after the node's children.
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

// add appends a file, unless it is a device or a flag, or its name is not known.
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

// enter follows cd. If the directory is not known, later paths stay as in the script.
func (c *changes) enter(args []word) {
	texts := call{args: args}.texts()
	dir, ok := enter(c.dir, texts)
	if !ok || args[0].loose {
		dir = ""
	}
	c.dir = dir
}

// changed returns the operands of a call that name changed files.
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

// operands returns the arguments that are neither flags nor values of flags. It returns none if a
// pattern or an expansion may be the value of a flag.
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

// looseMark replaces an argument whose value is not known: no argument contains a NUL byte.
const looseMark = "\x00"

// copied returns the files that cp and mv create: the last operand, or files in it if it is
// certainly a directory.
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

// edited returns the files of sed -i. An empty operand is the suffix that some versions of sed
// require.
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

// sedValued are the flags of sed whose value is the next argument.
const sedValued = "-e -f -l --expression --file --line-length"
