package tool

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"appserver/core"
)

// plainOutput is what commands are told about where their output goes: to no
// terminal, no pager, without colours.
var plainOutput = []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat"}

// secretParts are parts of names of variables that hold secrets.
var secretParts = []string{"KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}

// internal are beginnings of names of variables that are the server's own.
var internal = []string{"APPSERVER_", "CODEX_"}

// coreNames are the variables that core.InheritCore leaves.
var coreNames = strings.Fields("HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TEMP TMP TMPDIR USER")

// BaseEnv is what environments of commands are made of: the server's, without the
// variables named by secrets and without its own (APPSERVER_…, CODEX_…).
func BaseEnv(environ []string, secrets ...string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && name != "" && !slices.Contains(secrets, name) && !own(name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// environment is a command's: what the policy makes of the base, and last, whatever the
// policy says, TERM=dumb, NO_COLOR=1 and PAGER, GIT_PAGER and GH_PAGER, which are set to
// cat: output goes to no terminal. Values are literal: nothing in them is expanded.
//
// The policy takes what is inherited, leaves out names with KEY, SECRET, TOKEN, PASSWORD,
// PASSWD, PASSPHRASE or CREDENTIAL in them and those that are excluded, sets its own, and
// of all that keeps what is included, in this order.
func environment(base []string, p core.EnvironmentPolicy) []string {
	return append(inheritance(base, p), plainOutput...)
}

// inheritance is what the policy makes of the base, without what plainOutput sets.
func inheritance(base []string, p core.EnvironmentPolicy) []string {
	var kept []string
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if _, set := p.Set[name]; !set && !replaced(name) && inherited(name, &p) {
			kept = append(kept, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Set)) {
		if name != "" && !strings.ContainsAny(name, "=\x00") && !replaced(name) {
			kept = append(kept, name+"="+p.Set[name])
		}
	}
	if len(p.IncludeOnly) > 0 {
		kept = slices.DeleteFunc(kept, func(entry string) bool {
			name, _, _ := strings.Cut(entry, "=")
			return !matches(p.IncludeOnly, name)
		})
	}
	return kept
}

// inherited tells whether a variable of the server is passed on.
func inherited(name string, p *core.EnvironmentPolicy) bool {
	switch {
	case p.Inherit == core.InheritNone:
		return false
	case p.Inherit == core.InheritCore && !slices.Contains(coreNames, name):
		return false
	case !p.KeepSecrets && secret(name):
		return false
	}
	return !matches(p.Exclude, name)
}

// matches tells whether one of the patterns fits a name, in upper or lower case: * stands for
// any text, ? for any character.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		expression, err := regexp.Compile("(?is)^" + quoted + "$")
		return err == nil && expression.MatchString(name)
	})
}

func secret(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(upper, part) })
}

func own(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(internal, func(prefix string) bool { return strings.HasPrefix(upper, prefix) })
}

// replaced tells whether the variable has another value for commands.
func replaced(name string) bool {
	return name == "COLORTERM" ||
		slices.ContainsFunc(plainOutput, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}
