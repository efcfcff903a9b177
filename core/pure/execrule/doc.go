// Package execrule reads the rules of a user for the commands of the model: [Parse] reads the text of a .rules file.
// The package is pure: it opens and runs nothing. [appserver/core/pure/toolspec] compares commands with the rules.
//
// # The language
//
// The files of the reference implementation are in Starlark. Parse reads the rules that a file states directly:
//
//	prefix_rule(
//	    pattern = ["git", ["push", "fetch"]],
//	    decision = "forbidden",
//	    justification = "Use the review tool.",
//	)
//
// Values are strings, lists and names of such values. Parse evaluates nothing else, so that no file takes long. It
// returns a [Problem] for each other statement, and for a rule whose values it cannot read.
package execrule
