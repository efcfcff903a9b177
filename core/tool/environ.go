package tool

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"appserver/core"
	"appserver/core/redact"
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
// The policy applies in this order: it selects the inherited variables, removes those that seem to have
// secrets ([redact.IsSecretVariable]), removes excluded names, sets its own variables, and keeps only
// included names.
func environment(base []string, p core.EnvironmentPolicy) []string {
	return append(policyEnv(base, p), plainOutput...)
}

// policyEnv applies the policy to the base, without plainOutput.
func policyEnv(base []string, p core.EnvironmentPolicy) []string {
	var kept []string
	set := slices.Sorted(maps.Keys(p.Set))
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if !named(set, name) && !replaced(name) && selected(name, &p) && !isWithheld(base, entry, &p) {
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

// isWithheld reports whether the policy removes a variable of the base, because it seems to have a secret.
func isWithheld(base []string, entry string, p *core.EnvironmentPolicy) bool {
	name, _, _ := strings.Cut(entry, "=")
	return !p.KeepSecrets && !matches(p.Keep, name) && (isSecret(entry) || name == gitConfigCount && hasSecretConfig(base))
}

// gitConfigCount is the number of the pairs of variables GIT_CONFIG_KEY_N and GIT_CONFIG_VALUE_N. Git fails if one of
// them is missing, so it is removed with them.
const gitConfigCount, gitConfig = "GIT_CONFIG_COUNT", "GIT_CONFIG_"

func hasSecretConfig(base []string) bool {
	return slices.ContainsFunc(base, func(entry string) bool { return strings.HasPrefix(entry, gitConfig) && isSecret(entry) })
}

// secretEntries remembers which variables of the server seem to have secrets.
var secretEntries sync.Map

func isSecret(entry string) bool {
	if known, ok := secretEntries.Load(entry); ok {
		return known.(bool)
	}
	name, value, _ := strings.Cut(entry, "=")
	is := redact.IsSecretVariable(name, value)
	secretEntries.Store(entry, is)
	return is
}

// withheld returns the names of the variables that a command does not get only because they seem to have secrets.
func withheld(base []string, p core.EnvironmentPolicy) (names []string) {
	for _, entry := range base {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && selected(name, &p) && isWithheld(base, entry, &p) && !named(slices.Collect(maps.Keys(p.Set)), name) &&
			(len(p.IncludeOnly) == 0 || matches(p.IncludeOnly, name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// missing returns a note for the model about withheld variables that a command names, or "".
func missing(argv, withheld []string) string {
	isName := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	words := strings.FieldsFunc(strings.Join(argv, " "), func(r rune) bool { return !isName(r) })
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
