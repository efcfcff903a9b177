package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"appserver/core"
	"appserver/core/pure/charset"
	"appserver/platform/excerpt"
	"appserver/platform/osfile"
)

// instructionNames returns the names of files that have a folder's instructions. The first regular file counts.
func instructionNames() []string { return []string{"AGENTS.override.md", "AGENTS.md"} }

// maxFallbacks bounds the other names of such files.
const maxFallbacks = 32

// InstructionOptions select the files with instructions.
type InstructionOptions struct {
	// Home is the user's own folder, or empty. Cwd is the working directory.
	Home, Cwd string
	// MaxBytes bounds all texts together; 0 selects no file.
	MaxBytes int
	// Fallbacks are further names of files in folders of the project. Each is read if the names before are missing.
	Fallbacks []string
	// NoLinks is set if no link with a name of Fallbacks is read.
	NoLinks bool
}

// Instructions returns the AGENTS.md files that apply in the working directory: first the user's own, then those from
// the repository's root down to the directory, or in the directory alone outside of a repository. The file nearest to
// the directory gets its room in MaxBytes first, and the user's own last; a mark shows a cut. Blank files are left
// out.
//
// A warning names each file that is cut or left out, because it has no room, cannot be read, or is not text. So does
// one for a file of the repository to which a link leads from outside: the files of a repository come from others.
// The user's own may be anywhere.
func Instructions(o InstructionOptions) (files []core.InstructionFile, warnings []string) {
	if o.MaxBytes <= 0 {
		return nil, nil
	}
	c := collector{InstructionOptions: o, left: o.MaxBytes, within: []string{o.Cwd}}
	if root := repositoryRoot(o.Cwd); root != "" {
		c.within = []string{root, o.Cwd}
	}
	c.checkFallbacks()
	for _, folder := range instructionFolders(o.Home, o.Cwd) {
		c.folder(folder)
	}
	return c.fit(), c.warnings
}

// instructionFolders returns home and the folders from the repository's root to cwd.
func instructionFolders(home, cwd string) []string {
	folders := []string{cwd}
	if root := repositoryRoot(cwd); root != "" {
		for dir := cwd; dir != root; {
			dir = filepath.Dir(dir)
			folders = append(folders, dir)
		}
	}
	folders = slices.DeleteFunc(folders, func(dir string) bool { return dir == home })
	if home != "" {
		folders = append(folders, home)
	}
	slices.Reverse(folders)
	return folders
}

// repositoryRoot returns the nearest folder at or above dir that has a .git, or "". dir is absolute
// and clean.
func repositoryRoot(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// collector gathers files.
type collector struct {
	InstructionOptions
	within   []string
	left     int
	found    []instructions
	warnings []string
}

// instructions are the beginning of a file.
type instructions struct {
	core.InstructionFile
	// more is set if the file is longer than the text.
	more bool
}

func (c *collector) warn(path, format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf("instructions %s "+format, append([]any{path}, args...)...))
}

// checkFallbacks keeps the fallbacks that are names of files.
func (c *collector) checkFallbacks() {
	var names []string
	for _, name := range c.Fallbacks {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(names, name):
		case len(names) == maxFallbacks || !isFileName(name):
			c.warnings = append(c.warnings, fmt.Sprintf("%q in project_doc_fallback_filenames has no effect: "+
				"it must be one of at most %d names of files without a folder", excerpt.Line(name), maxFallbacks))
		default:
			names = append(names, name)
		}
	}
	c.Fallbacks = names
}

func isFileName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) && name != "." && excerpt.Line(name) == name
}

// folder finds the file of a folder. A file that cannot be read gives its place to the next one. An empty file keeps
// its place, so that an empty AGENTS.override.md turns instructions of the project off.
func (c *collector) folder(dir string) {
	own := dir == c.Home
	names := instructionNames()
	if !own {
		names = append(names, c.Fallbacks...)
	}
	for i, name := range names {
		path := filepath.Join(dir, name)
		text, more, err := c.read(path, own, c.NoLinks && i >= len(instructionNames()))
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && own && isBlank(text):
			continue
		case err != nil:
			c.warn(path, "are left out: %v", err)
			continue
		case !isBlank(text):
			c.found = append(c.found, instructions{core.InstructionFile{Path: path, Text: text}, more})
		}
		return
	}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

var errLink = errors.New("a link with a name that the project chose is not followed")

// read returns the beginning of a file, longer than the limit if the file is.
func (c *collector) read(path string, own, noLink bool) (text string, more bool, err error) {
	if noLink {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", false, errLink
		}
	}
	b := osfile.Bounds{Max: 2*int64(c.MaxBytes) + 2*utf8.UTFMax} // a character of UTF-16 can be one byte in UTF-8
	if !own {
		b.Within = c.within
	}
	raw, err := osfile.ReadRegular(path, b)
	if err != nil {
		return "", false, err
	}
	if more = int64(len(raw)) == b.Max; more {
		raw = excerpt.Prefix(raw, len(raw)-utf8.UTFMax)
	}
	text, problem := charset.Text(string(raw))
	switch {
	case problem != "" && text == "":
		return "", false, errors.New(problem)
	case problem != "":
		c.warn(path, "have other characters than the file: %s", problem)
	}
	return text, more, nil
}

// fit returns the files as far as they fit. The last one is the nearest to the working directory, and is cut last.
func (c *collector) fit() (files []core.InstructionFile) {
	for _, f := range slices.Backward(c.found) {
		switch {
		case c.left == 0:
			c.warn(f.Path, "are left out: project_doc_max_bytes of %d is used up", c.MaxBytes)
			continue
		case f.more || len(f.Text) > c.left:
			f.Text = excerpt.Prefix(f.Text, c.left)
			c.warn(f.Path, "are cut after %d bytes: project_doc_max_bytes is %d for all files together. Shorten the files, "+
				"or raise it", len(f.Text), c.MaxBytes)
			f.Text += fmt.Sprintf("\n\n[cut here: all instructions together are limited to %d bytes]", c.MaxBytes)
			c.left = 0
		default:
			c.left -= len(f.Text)
		}
		files = append(files, f.InstructionFile)
	}
	slices.Reverse(files)
	return files
}
