package patch

import (
	"path/filepath"
	"slices"
	"strings"
)

// cleanPath returns a file's name: relative to dir with slashes if the file is below it, else
// absolute. It rejects names in .git. Files decides where links lead, and which absolute names are
// allowed.
func cleanPath(dir, name string, line int) (string, error) {
	refuse := func(reason string) (string, error) {
		return "", &Error{Kind: Forbidden, Path: name, Line: line, Message: reason}
	}
	clean, slashed := within(dir, name), filepath.ToSlash(name)
	switch {
	case strings.TrimSpace(name) == "" || clean == "." || clean == "/":
		return "", &Error{Kind: Malformed, Line: line, Message: "the file's name is missing"}
	case slices.ContainsFunc(strings.Split(slashed+"/"+filepath.ToSlash(clean), "/"), isGit):
		return refuse("the name leads into .git, which patches do not change")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return refuse("the name has a control character in it")
	case strings.HasSuffix(slashed, "/"):
		return refuse("the name is a directory name")
	}
	return clean, nil
}

// within returns a clean name: relative to dir with slashes if it is below it, else absolute.
func within(dir, name string) string {
	full := Full(dir, name)
	if rel, err := filepath.Rel(dir, full); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return full
}

// Full returns the absolute path of a name in a patch that is applied in dir.
func Full(dir, name string) string {
	switch {
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	case strings.HasPrefix(filepath.ToSlash(name), "/"): // on Windows, below the root of the drive
		return filepath.Join(filepath.VolumeName(dir), name)
	}
	return filepath.Join(dir, name)
}

// isGit also recognizes the spellings that some file systems read as .git.
func isGit(part string) bool {
	return strings.EqualFold(strings.TrimRight(part, ". "), ".git") || strings.EqualFold(part, "git~1")
}
