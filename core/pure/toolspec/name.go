package toolspec

import (
	"slices"
	"strings"
	"unicode"

	"appserver/platform/pattern"
)

// maxCalledName bounds the names that are compared with those of tools, in bytes.
const maxCalledName = 256

// callNumber is the number that Kimi adds to the name of a call.
var callNumber = pattern.New(`:\d+$`)

// OfferedName returns the name of the offered tool that a model means, or the name itself if no tool or several
// match. Models add the tokens of their template (shell<|channel|>commentary), a namespace (functions.shell,
// default_api:shell) or a number to a name, or write it in another case.
func OfferedName(name string, offered []Spec) string {
	if isOffered(name, offered) || len(name) > maxCalledName {
		return name
	}
	for rest := withoutTokens(name); rest != ""; {
		if found := matching(rest, offered); len(found) > 0 {
			return only(found, name)
		}
		namespace, inner := splitNamespace(rest)
		if holdsTools(namespace, offered) {
			return name
		}
		rest = inner
	}
	return name
}

func only(found []string, otherwise string) string {
	if len(found) == 1 {
		return found[0]
	}
	return otherwise
}

func isOffered(name string, offered []Spec) bool {
	return IsShell(name) || slices.ContainsFunc(offered, func(s Spec) bool { return s.Name == name })
}

// withoutTokens returns a name without the tokens of a template, and without what surrounds it.
func withoutTokens(name string) string {
	for _, token := range []string{"<|", "<｜"} {
		name, _, _ = strings.Cut(name, token)
	}
	name = strings.TrimFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return callNumber().ReplaceAllString(name, "")
}

// matching returns the offered names that equal a name, or else those that differ in case and separators only.
func matching(name string, offered []Spec) (found []string) {
	if isOffered(name, offered) {
		return []string{name}
	}
	wanted := folded(name)
	for _, s := range offered {
		if wanted != "" && folded(s.Name) == wanted {
			found = append(found, s.Name)
		}
	}
	return found
}

// folded returns the letters and digits of a name in lower case.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// splitNamespace splits a name at its first separator. The name is "" if there is no separator.
func splitNamespace(qualified string) (namespace, name string) {
	first := len(qualified)
	for _, s := range []string{".", ":", "/", separator} {
		if at := strings.Index(qualified, s); at >= 0 && at < first {
			first = at
		}
	}
	return qualified[:first], strings.TrimLeft(qualified[first:], ".:/_")
}

// holdsTools reports whether a namespace is that of offered tools. Then a name in it that is not offered means no
// other tool.
func holdsTools(namespace string, offered []Spec) bool {
	return slices.ContainsFunc(offered, func(s Spec) bool { return strings.HasPrefix(s.Name, namespace+separator) })
}
