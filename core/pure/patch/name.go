package patch

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// locate returns the path of a file that a section names. A file with exactly the name of the patch comes first. If
// there is none, one file with a corrected name counts: without quotes, with slashes for backslashes, or in another
// form of Unicode. All names are checked after they were corrected.
func (t *tree) locate(s *section, name string, creates bool) (string, error) {
	literal, err := cleanPath(t.dir, name, s.line)
	if err != nil {
		return "", err
	}
	if exists, err := t.exists(literal); exists || err != nil {
		return literal, err
	}
	bare := plainName(name)
	var found []string
	for _, form := range []string{name, bare, withSlashes(name), withSlashes(bare)} {
		path, err := t.correct(s, form)
		if err != nil {
			return "", err
		}
		exists, err := t.exists(path)
		if err != nil {
			return "", err
		}
		if exists && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", s.missing(literal, fmt.Sprintf("the file does not exist, and the name may mean %s", strings.Join(found, " or ")))
	case !creates:
		return literal, nil
	case withSlashes(bare) != bare:
		return "", s.missing(literal, "the name has a backslash. Write / between the names of folders. "+
			"Use a command for a file that has a backslash in its name")
	}
	return t.correct(s, bare)
}

// plainName returns a name without the quotes and blanks that models write around it.
func plainName(name string) string {
	for {
		name = strings.TrimSpace(name)
		last := len(name) - 1
		if last < 2 || name[0] != name[last] || !strings.Contains("`\"'", name[:1]) {
			return name
		}
		name = name[1:last]
	}
}

// withSlashes returns a name with slashes for backslashes. On Windows, both separate folders anyway.
func withSlashes(name string) string {
	if filepath.Separator == '\\' {
		return name
	}
	return strings.ReplaceAll(name, `\`, "/")
}

func (t *tree) exists(path string) (bool, error) {
	e, err := t.entry(path)
	return err == nil && e.after != nil, err
}

// correct returns the path of a name, with each part in the form of Unicode that it has on the disk.
func (t *tree) correct(s *section, name string) (string, error) {
	clean, err := cleanPath(t.dir, name, s.line)
	if err != nil || isASCII(clean) {
		return clean, err
	}
	done := ""
	if strings.HasPrefix(filepath.ToSlash(clean), "/") {
		done = "/"
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(filepath.ToSlash(clean), "/"), "/") {
		if !isASCII(part) {
			if part, err = t.spelled(s, done, part); err != nil {
				return "", err
			}
		}
		done = path.Join(done, part)
	}
	return cleanPath(t.dir, filepath.FromSlash(done), s.line)
}

// spelled returns the name in a folder that a part of a path means: the same name, or else the only one that is equal
// in another form of Unicode. It returns the part if there is none.
func (t *tree) spelled(s *section, folder, part string) (string, error) {
	var found []string
	form := norm.NFC.String(part)
	for _, name := range t.disk.List(folder) {
		switch {
		case name == part:
			return part, nil
		case !isASCII(name) && norm.NFC.String(name) == form:
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return part, nil
	case 1:
		return found[0], nil
	}
	return "", s.missing(path.Join(folder, part), "the folder has several such names in other forms of Unicode")
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
