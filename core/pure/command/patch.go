package command

import (
	"errors"
	"io"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxPatch bounds the scripts in which Patch looks for a patch, in bytes.
const maxPatch = 8 << 20

// Patch returns the patch that a script passes to apply_patch, and the directory that the script
// enters before, or empty. It accepts the forms that models write: a here-document or one argument,
// after nothing but cd and &&. The text of a here-document is used as it is, even if a shell would
// expand it.
func Patch(script string) (dir, text string, ok bool) {
	if len(script) > maxPatch || !strings.Contains(script, "apply_patch") && !strings.Contains(script, "applypatch") {
		return "", "", false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(shallow{strings.NewReader(script)}, "")
	if err != nil || len(file.Stmts) != 1 {
		return "", "", false
	}
	s := file.Stmts[0]
	if both, is := s.Cmd.(*syntax.BinaryCmd); is && both.Op == syntax.AndStmt && plainStatement(s) && len(s.Redirs) == 0 {
		if dir, ok = changedTo(both.X); !ok {
			return "", "", false
		}
		s = both.Y
	}
	text, ok = patchOf(script, s)
	return dir, text, ok
}

// shallow passes a script to the parser while the parser's stack is shallow. That stack grows with
// the nesting of the script, a little with each read, and an overflow ends the process.
type shallow struct{ script io.Reader }

// mostFrames bounds the stack of the parser, in frames, with all its callers. Scripts that apply a
// patch need far less.
const mostFrames = 1000

var errDeep = errors.New("the script is nested too deep")

func (s shallow) Read(b []byte) (int, error) {
	if runtime.Callers(mostFrames, make([]uintptr, 1)) > 0 {
		return 0, errDeep
	}
	return s.script.Read(b)
}

func plainStatement(s *syntax.Stmt) bool {
	return !s.Negated && !s.Background && !s.Coprocess && !s.Disown
}

// changedTo returns the operand of a plain cd.
func changedTo(s *syntax.Stmt) (string, bool) {
	args, ok := plainCall(s)
	if !ok || len(args) != 2 || len(s.Redirs) > 0 || args[0].text != "cd" || strings.HasPrefix(args[1].text, "-") {
		return "", false
	}
	return args[1].text, args[1].text != ""
}

func patchOf(script string, s *syntax.Stmt) (string, bool) {
	args, ok := plainCall(s)
	switch {
	case !ok || args[0].text != "apply_patch" && args[0].text != "applypatch":
		return "", false
	case len(args) == 2 && len(s.Redirs) == 0:
		return args[1].text, true
	case len(args) == 1 && len(s.Redirs) == 1:
		r := s.Redirs[0]
		if r.Op == syntax.Hdoc && r.N == nil && r.Hdoc != nil {
			return document(script, r), true
		}
	}
	return "", false
}

// document returns the text of a here-document. If the script ends in it, its position includes the
// end word.
func document(script string, r *syntax.Redirect) string {
	text := script[r.Hdoc.Pos().Offset():r.Hdoc.End().Offset()]
	end, _ := literal(r.Word)
	if body, ok := strings.CutSuffix(text, "\n"+end.text); ok {
		return body + "\n"
	}
	return text
}

// plainCall returns the words of a simple command if all of them are known.
func plainCall(s *syntax.Stmt) ([]word, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || !plainStatement(s) || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, false
	}
	words := make([]word, len(call.Args))
	for i, arg := range call.Args {
		if words[i], ok = literal(arg); !ok || words[i].loose {
			return nil, false
		}
	}
	return words, true
}
