package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/excerpt"
	"appserver/core/osfile"
)

// instructionNames are the files that hold a folder's instructions. The first one
// that is there counts.
var instructionNames = []string{"AGENTS.override.md", "AGENTS.md"}

// Instructions returns the AGENTS.md files that apply in cwd: first the user's own in home, which may
// be "", then the ones from the repository's root down to cwd, or in cwd alone outside of a
// repository. Together they have at most maxBytes, with a mark at a cut; 0 is none. Blank files are
// left out. A file that cannot be read or has no room left causes a warning with its name. So does a file of the
// repository that a link leads out of it: the files of a repository come from others. The user's own may be anywhere.
func Instructions(home, cwd string, maxBytes int) (files []core.InstructionFile, warnings []string) {
	c := collector{limit: maxBytes, left: maxBytes}
	if maxBytes <= 0 {
		return nil, nil
	}
	within := []string{cwd}
	if root := repositoryRoot(cwd); root != "" {
		within = []string{root, cwd}
	}
	for _, folder := range instructionFolders(home, cwd) {
		if folder == home {
			c.folder(folder, nil)
		} else {
			c.folder(folder, within)
		}
	}
	return c.files, c.warnings
}

// instructionFolders are home and the folders from the repository's root to cwd.
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

// collector gathers files until limit bytes are used up.
type collector struct {
	limit, left int
	files       []core.InstructionFile
	warnings    []string
}

// folder adds the file of a folder, if it is in one of the folders within, or anywhere without those.
func (c *collector) folder(dir string, within []string) {
	for _, name := range instructionNames {
		path := filepath.Join(dir, name)
		text, err := osfile.ReadRegular(path, osfile.Bounds{Max: int64(c.left) + 1, Within: within})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			c.warnings = append(c.warnings, fmt.Sprintf("instructions %s are left out: %v", path, err))
		default:
			c.add(path, text)
		}
		return
	}
}

// add adds as much of a file as fits. text is at most one byte longer.
func (c *collector) add(path string, text []byte) {
	cut := len(text) > c.left
	if cut {
		text = excerpt.Prefix(text, c.left)
	}
	clean := strings.ToValidUTF8(strings.TrimPrefix(string(text), "\ufeff"), "\ufffd")
	switch {
	case cut && c.left == 0:
		c.warnings = append(c.warnings,
			fmt.Sprintf("instructions %s are left out: project_doc_max_bytes of %d is used up", path, c.limit))
		return
	case cut:
		clean += fmt.Sprintf("\n\n[cut here: all instructions together are limited to %d bytes]", c.limit)
		c.left = 0
	case strings.TrimSpace(clean) == "":
		return
	default:
		c.left -= len(text)
	}
	c.files = append(c.files, core.InstructionFile{Path: path, Text: clean})
}
