package tool

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"appserver/core"
)

// plainOutput makes commands write plain text: no colours and no pager, because output goes to no
// terminal.
var plainOutput = []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat"}

// secretParts are parts of names of variables that contain secrets.
var secretParts = []string{"KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}

// internal are prefixes of the server's own variables.
var internal = []string{"APPSERVER_", "CODEX_"}

// BaseEnv returns the base of the environments of commands: the server's environment without the
// variables named by secrets and without its own (APPSERVER_…, CODEX_…).
func BaseEnv(environ []string, secrets ...string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && name != "" && !named(secrets, name) && !own(name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// environment applies the policy to the base. TERM=dumb, NO_COLOR=1, and cat for PAGER, GIT_PAGER
// and GH_PAGER are set last and override the policy, because output goes to no terminal. Values
// are literal and not expanded.
//
// The policy applies in this order: it selects the inherited variables, removes names that contain
// KEY, SECRET, TOKEN, PASSWORD, PASSWD, PASSPHRASE or CREDENTIAL, removes excluded names, sets its
// own variables, and keeps only included names.
func environment(base []string, p core.EnvironmentPolicy) []string {
	return append(policyEnv(base, p), plainOutput...)
}

// policyEnv applies the policy to the base, without plainOutput.
func policyEnv(base []string, p core.EnvironmentPolicy) []string {
	var kept []string
	set := slices.Sorted(maps.Keys(p.Set))
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if !named(set, name) && !replaced(name) && inherited(name, &p) {
			kept = append(kept, entry)
		}
	}
	for _, name := range set {
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

// inherited reports whether a variable of the server is passed on.
func inherited(name string, p *core.EnvironmentPolicy) bool {
	switch {
	case p.Inherit == core.InheritNone:
		return false
	case p.Inherit == core.InheritCore && !named(coreNames, name):
		return false
	case !p.KeepSecrets && secret(name):
		return false
	}
	return !matches(p.Exclude, name)
}

// named reports whether a variable is in a list.
func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return sameName(other, name) })
}

// matches reports whether one of the patterns matches a name, ignoring case: * matches any text, ?
// any character.
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

// replaced reports whether commands get another value of the variable.
func replaced(name string) bool {
	return sameName(name, "COLORTERM") || slices.ContainsFunc(plainOutput, func(entry string) bool {
		own, _, _ := strings.Cut(entry, "=")
		return sameName(own, name)
	})
}
