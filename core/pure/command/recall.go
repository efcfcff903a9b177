package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Recall returns the arguments of a script that does nothing but call recall, a command that the server runs itself.
// It reports false for other scripts, and for a call without arguments or with an option.
func Recall(script string) (arguments []string, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(script), "recall ") {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(shallow{strings.NewReader(script)}, "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
		return nil, false
	}
	called, ok := plainCall(file.Stmts[0])
	if !ok || len(called) < 2 || strings.HasPrefix(called[1].text, "-") {
		return nil, false
	}
	for _, argument := range called[1:] {
		arguments = append(arguments, argument.text)
	}
	return arguments, true
}
