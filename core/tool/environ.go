package tool

import (
	"slices"
	"strings"
)

// plainOutput is what commands are told about where their output goes: to no
// terminal, no pager, without colours.
var plainOutput = []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat"}

// secretParts are parts of names of variables that hold secrets.
var secretParts = []string{"KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}

// internal are beginnings of names of variables that are the server's own.
var internal = []string{"APPSERVER_", "CODEX_"}

// FilterEnv is the environment for commands, made of the server's: without
// variables whose name has KEY, SECRET, TOKEN, PASSWORD, PASSWD, PASSPHRASE or
// CREDENTIAL in it, in any case, without those named by secrets, and without the
// server's own (APPSERVER_…, CODEX_…). Everything else stays as it is, PATH, HOME
// and LANG among it, but for TERM=dumb, NO_COLOR=1 and PAGER, GIT_PAGER and
// GH_PAGER, which are set to cat: output goes to no terminal.
func FilterEnv(environ []string, secrets ...string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && name != "" && !slices.Contains(secrets, name) && !private(name) && !replaced(name) {
			kept = append(kept, entry)
		}
	}
	return append(kept, plainOutput...)
}

func private(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(upper, part) }) ||
		slices.ContainsFunc(internal, func(prefix string) bool { return strings.HasPrefix(upper, prefix) })
}

// replaced tells whether the variable has another value for commands.
func replaced(name string) bool {
	return name == "COLORTERM" ||
		slices.ContainsFunc(plainOutput, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}
