package tool

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"appserver/core"
)

// plainOutput makes commands write plain text: no colours and no pager, because output goes to no
// terminal.
var plainOutput = []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat"}

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
// The policy applies in this order: it selects the inherited variables, removes the secrets, removes
// excluded names, sets its own variables, and keeps only included names.
func environment(base, secrets []string, p core.EnvironmentPolicy) []string {
	return append(policyEnv(base, secrets, p), plainOutput...)
}

// policyEnv applies the policy to the base, without plainOutput. secrets are the names of variables that seem to have
// secrets.
func policyEnv(base, secrets []string, p core.EnvironmentPolicy) []string {
	var kept []string
	set := slices.Sorted(maps.Keys(p.Set))
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if !named(set, name) && !replaced(name) && selected(name, &p) && !isWithheld(name, secrets, &p) {
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

// selected reports whether the policy passes a variable of the server on, unless it seems to have a secret.
func selected(name string, p *core.EnvironmentPolicy) bool {
	switch {
	case p.Inherit == core.InheritNone:
		return false
	case p.Inherit == core.InheritCore && !named(coreNames, name):
		return false
	}
	return !matches(p.Exclude, name)
}

// isWithheld reports whether the policy removes a variable that is one of the secrets.
func isWithheld(name string, secrets []string, p *core.EnvironmentPolicy) bool {
	return !p.KeepSecrets && named(secrets, name) && !matches(p.Keep, name)
}

// withheld returns the names of the variables that a command does not get only because they are secrets.
func withheld(base, secrets []string, p core.EnvironmentPolicy) (names []string) {
	all := p
	all.KeepSecrets = true
	for _, entry := range policyEnv(base, nil, all) {
		name, value, _ := strings.Cut(entry, "=")
		if _, set := p.Set[name]; value != "" && !set && isWithheld(name, secrets, &p) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isNoName reports whether a character is in no name of a variable.
func isNoName(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// missing returns a note for the model about withheld variables that a command names, or "".
func missing(argv, withheld []string) string {
	words := strings.FieldsFunc(strings.Join(argv, " "), isNoName)
	var used []string
	for _, name := range withheld {
		if slices.Contains(words, name) {
			used = append(used, name)
		}
	}
	if used == nil {
		return ""
	}
	return "\nThe server has removed " + strings.Join(used, ", ") + " from the environment of commands, because a secret " +
		"may be in it. The user can permit it (shell_environment_policy).\n"
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
