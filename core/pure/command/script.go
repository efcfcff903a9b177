package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxScript bounds the scripts that are analysed, in bytes: the parser's stack grows with the
// nesting of its input.
const maxScript = 16 << 10

// call is a simple command of a script.
type call struct {
	args []word
	// source is its text in the script.
	source string
	// piped is set if it reads the output of the previous call.
	piped bool
}

// texts returns the words of a call.
func (c call) texts() []string {
	texts := make([]string, len(c.args))
	for i, arg := range c.args {
		texts[i] = arg.text
	}
	return texts
}

// parse parses a script as bash does. It fails for scripts that are too long.
func parse(script string) (*syntax.File, bool) {
	if len(script) > maxScript {
		return nil, false
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(script), "")
	return file, err == nil
}

// calls returns the simple commands of a script, in order, or false if it contains anything else.
func calls(script string, file *syntax.File) ([]call, bool) {
	w := walk{script: script}
	for _, stmt := range file.Stmts {
		if !w.statement(stmt, false) {
			return nil, false
		}
	}
	return w.calls, true
}

// walk collects the simple commands of a script.
type walk struct {
	script string
	calls  []call
}

func (w *walk) statement(s *syntax.Stmt, piped bool) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown || !harmless(s.Redirs) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, piped)
	case *syntax.BinaryCmd:
		return w.binary(c, piped)
	}
	return false
}

func (w *walk) binary(c *syntax.BinaryCmd, piped bool) bool {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		return w.statement(c.X, piped) && w.statement(c.Y, false)
	case syntax.Pipe:
		return w.statement(c.X, piped) && w.statement(c.Y, true)
	}
	return false
}

func (w *walk) call(c *syntax.CallExpr, piped bool) bool {
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false
	}
	found := call{piped: piped, source: w.script[c.Pos().Offset():c.End().Offset()]}
	for _, arg := range c.Args {
		word, ok := literal(arg)
		if !ok {
			return false
		}
		found.args = append(found.args, word)
	}
	w.calls = append(w.calls, found)
	return true
}

// harmless reports whether redirections change no file. "&>" does not count as harmless: a POSIX
// shell reads it as the end of a command, and the file as another command.
func harmless(redirections []*syntax.Redirect) bool {
	for _, r := range redirections {
		if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
			return false
		}
		target, ok := literal(r.Word)
		if !ok || !harmlessTarget(r.Op, target.text) {
			return false
		}
	}
	return true
}

func harmlessTarget(op syntax.RedirOperator, target string) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return target == "/dev/null"
	case syntax.DplOut:
		return target == "1" || target == "2"
	}
	return false
}
