package patch

import (
	"path"
	"slices"
	"strings"
)

// cleanPath is a file's name relative to where the patch is applied, with slashes. It
// refuses names that lead elsewhere or into a repository's own files; where links lead
// is for Files to know.
func cleanPath(name string, line int) (string, error) {
	refuse := func(reason string) (string, error) {
		return "", &Error{Kind: Forbidden, Path: name, Line: line, Message: reason}
	}
	parts := strings.Split(name, "/")
	clean := path.Clean(name)
	switch {
	case strings.TrimSpace(name) == "" || clean == ".":
		return "", &Error{Kind: Malformed, Line: line, Message: "the file's name is missing"}
	case path.IsAbs(name):
		return refuse("the name is absolute; give it relative to the working directory")
	case slices.Contains(parts, ".."):
		return refuse("the name has .. in it; give it without, from the working directory")
	case slices.ContainsFunc(parts, isGit):
		return refuse("the name leads into .git, which patches do not change")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return refuse("the name has a control character in it")
	case strings.HasSuffix(name, "/"):
		return refuse("the name is that of a directory")
	}
	return clean, nil
}

// isGit also takes the spellings that some file systems read as .git.
func isGit(part string) bool {
	return strings.EqualFold(strings.TrimRight(part, ". "), ".git") || strings.EqualFold(part, "git~1")
}
