package execrule

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/syntax"

	"appserver/core/pure/toolspec"
)

// Problem is a statement of a file that has no effect.
type Problem struct {
	// Line is the number of its line, from 1.
	Line int
	Text string
}

// maxRules bounds the rules of a file.
const maxRules = 10_000

// Parse reads the rules in the text of a file. If the text is no Starlark, it returns one problem and no rules.
// The texts of problems do not quote the file.
func Parse(file string, text []byte) (toolspec.CommandRules, []Problem) {
	tree, err := (&syntax.FileOptions{}).Parse(file, text, 0)
	if bytes.IndexByte(text, 0) >= 0 {
		err = errors.New("NUL") // the parser ends there
	}
	if err != nil {
		line := 1
		if at, ok := err.(syntax.Error); ok {
			line = int(at.Pos.Line)
		}
		return nil, []Problem{{line, "the syntax is not valid, so no rule of the file has an effect"}}
	}
	p := &parser{file: file, names: map[string]value{}}
	for _, stmt := range tree.Stmts {
		p.statement(stmt)
	}
	return p.rules, p.problems
}

// value is a string, a list of values, or nil if it is not known.
type value any

type parser struct {
	file     string
	names    map[string]value
	rules    toolspec.CommandRules
	problems []Problem
}

func (p *parser) problem(n syntax.Node, format string, args ...any) {
	start, _ := n.Span()
	p.problems = append(p.problems, Problem{int(start.Line), fmt.Sprintf(format, args...)})
}

func (p *parser) statement(stmt syntax.Stmt) {
	switch s := stmt.(type) {
	case *syntax.ExprStmt:
		if _, text := s.X.(*syntax.Literal); text {
			return
		}
		if call, ok := s.X.(*syntax.CallExpr); ok {
			p.call(call)
			return
		}
	case *syntax.AssignStmt:
		if name, ok := s.LHS.(*syntax.Ident); ok && s.Op == syntax.EQ {
			p.names[name.Name] = p.eval(s.RHS)
			return
		}
	}
	p.problem(stmt, "a statement is not read: only prefix_rule with strings and lists has an effect")
}

func (p *parser) call(call *syntax.CallExpr) {
	name, _ := call.Fn.(*syntax.Ident)
	switch {
	case name != nil && name.Name == "prefix_rule":
		p.prefixRule(call)
	case name != nil && name.Name == "host_executable":
		// Names of programs stand for all files of that name.
	case name != nil && name.Name == "network_rule":
		p.problem(call, "network_rule has no effect: the sandbox closes the network as a whole")
	default:
		p.problem(call, "a call is not read: only prefix_rule with strings and lists has an effect")
	}
}

// parameters are those of prefix_rule, in order.
var parameters = []string{"pattern", "decision", "match", "not_match", "justification"}

func (p *parser) prefixRule(call *syntax.CallExpr) {
	args, ok := p.arguments(call)
	if !ok || len(p.rules) == maxRules {
		p.problem(call, "a prefix_rule is not read: write its parameters as strings and lists")
		return
	}
	decision, known := decisionOf(args["decision"])
	pattern, read := patternOf(args["pattern"])
	if !known || !read {
		p.problem(call, "a prefix_rule is not read: pattern must be a list of strings and lists of strings, "+
			"and decision one of allow, prompt, forbidden")
		return
	}
	reason, _ := args["justification"].(string)
	start, _ := call.Span()
	p.rules = append(p.rules, toolspec.CommandRule{Pattern: pattern, Decision: decision,
		Justification: strings.TrimSpace(reason),
		Source:        fmt.Sprintf("%s:%d", p.file, start.Line)})
}

// arguments returns the arguments of a call by their names.
func (p *parser) arguments(call *syntax.CallExpr) (map[string]value, bool) {
	args := map[string]value{}
	for i, arg := range call.Args {
		if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			name, ok := named.X.(*syntax.Ident)
			if !ok {
				return nil, false
			}
			args[name.Name] = p.evalOr(named.Y)
			continue
		}
		if _, star := arg.(*syntax.UnaryExpr); star || i >= len(parameters) {
			return nil, false
		}
		args[parameters[i]] = p.evalOr(arg)
	}
	return args, true
}

// unread is a value that is given and not known.
type unread struct{}

func (p *parser) evalOr(e syntax.Expr) value {
	if v := p.eval(e); v != nil {
		return v
	}
	return unread{}
}

func (p *parser) eval(e syntax.Expr) value {
	switch e := e.(type) {
	case *syntax.Literal:
		if text, ok := e.Value.(string); ok && e.Token == syntax.STRING {
			return text
		}
	case *syntax.Ident:
		return p.names[e.Name]
	case *syntax.ParenExpr:
		return p.eval(e.X)
	case *syntax.ListExpr:
		list := make([]value, len(e.List))
		for i, element := range e.List {
			list[i] = p.evalOr(element)
		}
		return list
	}
	return nil
}

func decisionOf(v value) (toolspec.RuleDecision, bool) {
	switch v {
	case nil, "allow":
		return toolspec.RuleAllows, true
	case "prompt":
		return toolspec.RulePrompts, true
	case "forbidden":
		return toolspec.RuleForbids, true
	}
	return toolspec.RuleAllows, false
}

func patternOf(v value) ([][]string, bool) {
	list, _ := v.([]value)
	pattern := make([][]string, len(list))
	for i, element := range list {
		switch element := element.(type) {
		case string:
			pattern[i] = []string{element}
		case []value:
			for _, alternative := range element {
				text, ok := alternative.(string)
				if !ok {
					return nil, false
				}
				pattern[i] = append(pattern[i], text)
			}
		}
		if len(pattern[i]) == 0 {
			return nil, false
		}
	}
	return pattern, len(pattern) > 0
}
