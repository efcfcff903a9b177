package agentrole

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"appserver/platform/excerpt"
)

// maxName and maxDescription bound the name and the description of a role, in characters, and maxWord other names.
const maxName, maxDescription, maxWord = 64, 1024, 200

// checkName returns the name of a role, or an error if it is none.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("it has no name")
	case utf8.RuneCountInString(name) > maxName:
		return "", fmt.Errorf("its name is longer than %d characters", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !isOfName(r) }):
		return "", fmt.Errorf("its name %q has other characters than letters, digits, spaces and _ - . /", name)
	}
	return name, nil
}

func isOfName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _-./", r)
}

// checkDescription returns a description as one line. Control characters other than line feeds and tabs are an error.
func checkDescription(text string) (string, error) {
	strange := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) }
	if strings.ContainsFunc(text, strange) {
		return "", errors.New("its description has control characters")
	}
	line := excerpt.Line(text)
	if utf8.RuneCountInString(line) > maxDescription {
		line = string([]rune(line)[:maxDescription-1]) + "…"
	}
	return line, nil
}

// checkWord returns the name of a model or an effort, or an error if it is none.
func checkWord(key, word string) (string, error) {
	word = strings.TrimSpace(word)
	if utf8.RuneCountInString(word) > maxWord || strings.ContainsFunc(word, unicode.IsControl) {
		return "", fmt.Errorf("its %s is no name: longer than %d characters, or with control characters", key, maxWord)
	}
	return word, nil
}

// checkNicknames returns names for agents. The rules are those of the reference implementation.
func checkNicknames(names []string) ([]string, error) {
	if names != nil && len(names) == 0 {
		return nil, errors.New("nickname_candidates has no names: remove it")
	}
	strange := func(r rune) bool { return r > unicode.MaxASCII || !isOfName(r) || r == '.' || r == '/' }
	var out []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		switch {
		case name == "", len(name) > maxName:
			return nil, fmt.Errorf("nickname_candidates has a name that is empty or longer than %d characters", maxName)
		case slices.Contains(out, name):
			return nil, fmt.Errorf("nickname_candidates has %q twice", name)
		case strings.ContainsFunc(name, strange):
			return nil, fmt.Errorf("the nickname %q has other characters than letters of ASCII, digits, spaces, _ and -", name)
		}
		out = append(out, name)
	}
	return out, nil
}
