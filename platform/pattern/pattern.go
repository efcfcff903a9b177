// Package pattern has regular expressions that are compiled when they are first used.
//
// Package variables are made whenever the program starts. It starts for each command, too, as its supervisor.
// Expressions that few processes use must not take their time.
package pattern

import (
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the compiled expression. The function is safe for concurrent use. It
// panics if the expression is invalid.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// AnyOf does the same as New, for an expression that matches one of the alternatives, in upper or
// lower case.
func AnyOf(alternatives ...string) func() *regexp.Regexp {
	return New("(?i)" + strings.Join(alternatives, "|"))
}
