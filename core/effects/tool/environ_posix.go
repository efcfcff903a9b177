//go:build linux || darwin

package tool

import "strings"

// coreNames are the variables that core.InheritCore keeps.
var coreNames = strings.Fields("HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TEMP TMP TMPDIR USER")

// sameName reports whether two names are of one variable.
func sameName(a, b string) bool { return a == b }

// isAlias reports whether a name in a folder can be another name of a file.
func isAlias(string) bool { return false }
