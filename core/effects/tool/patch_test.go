package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/pure/patch"
)

// folder creates a directory with files. A content "->target" makes a link.
func folder(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if target, ok := strings.CutPrefix(content, "->"); ok {
			require.NoError(t, os.Symlink(target, full))
			continue
		}
		require.NoError(t, os.WriteFile(full, []byte(content), 0o644))
	}
	return dir
}

// contents returns the files of a directory in the form of folder, and its empty directories.
func contents(t *testing.T, dir string) map[string]string {
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, _ := filepath.Rel(dir, full)
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir():
			if inside, err := os.ReadDir(full); err == nil && len(inside) == 0 {
				found[name+"/"] = ""
			}
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(full)
			found[name] = "->" + target
			return err
		default:
			content, err := os.ReadFile(full)
			found[name] = string(content)
			return err
		}
		return nil
	}))
	return found
}

// apply plans a patch and writes it.
func apply(p Patcher, dir string, lines ...string) error {
	planned := p.Plan(core.PlanPatch{ID: 1, Dir: dir, Text: "*** Begin Patch\n" + strings.Join(lines, "\n") +
		"\n*** End Patch"})
	if planned.Err != nil {
		return planned.Err
	}
	return p.Write(core.WritePatch{ID: 2, Dir: dir, Files: planned.Result.Files}).Err
}

func TestPatchChangesItsFilesOnly(t *testing.T) {
	dir := folder(t, map[string]string{"f": "a\nb\n", "gone": "x\n", "old/name": "1\n2\n", "other": "o\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "f"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, "old/name"), 0o600))
	require.NoError(t, apply(Patcher{}, dir,
		"*** Update File: f", "@@", "-b", "+c", "*** Add File: new/deep/n", "+n",
		"*** Update File: old/name", "*** Move to: name", "@@", "-1", "+3", "*** Delete File: gone"))
	require.Equal(t, map[string]string{"f": "a\nc\n", "new/deep/n": "n\n", "name": "3\n2\n", "old/": "", "other": "o\n"},
		contents(t, dir))
	for name, mode := range map[string]fs.FileMode{"f": 0o755, "name": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

func TestLinksAreFollowedWithinTheFolderOnly(t *testing.T) {
	outside := folder(t, map[string]string{"secret": "s\n"})
	files := map[string]string{
		"f": "a\n", "d/g": "g\n", "to-f": "->f", "d/up": "->../f", "to-d": "->d", "chain": "->to-f", ".git/config": "c\n",
		"out": "->" + outside, "out-file": "->" + outside + "/secret", "out-up": "->../../etc", "to-git": "->.git",
		"loop":     "->loop",
		"dangling": "->not/there", "to-root": "->.",
	}
	dir := folder(t, files)
	require.NoError(t, os.Symlink(filepath.Join(dir, "d"), filepath.Join(dir, "absolute")))
	files["absolute"] = "->" + filepath.Join(dir, "d")
	update := func(name string) []string { return []string{"*** Update File: " + name, "@@", "+x"} }
	for name, message := range map[string]string{
		"out/secret": "it leads out of", "out-file": "it leads out of", "out-up/passwd": "it leads out of",
		"out/new":       "it leads out of",
		"to-git/config": "it leads into .git by a link", "to-git/hooks/new": "it leads into .git by a link",
		"loop": "too many links",
		"d":    "it is not a regular file", "f/x": "it is no folder", "dangling": "does not exist",
	} {
		require.ErrorContains(t, apply(Patcher{}, dir, update(name)...), message, name)
		require.Error(t, apply(Patcher{}, dir, "*** Delete File: "+name), name)
		require.Equal(t, files, contents(t, dir), name)
	}
	require.ErrorContains(t, apply(Patcher{}, dir, "*** Add File: out/new", "+x"), "out/new: it leads out of")
	require.ErrorContains(t, apply(Patcher{}, dir, append(update("f"), update("to-f")...)...),
		"the patch names this file twice")
	require.Equal(t, files, contents(t, dir))
	require.Equal(t, map[string]string{"secret": "s\n"}, contents(t, outside))

	for _, name := range []string{"chain", "d/up", "to-root/f"} {
		require.NoError(t, apply(Patcher{}, dir, update(name)...), name)
		files["f"] += "x\n"
		require.Equal(t, files, contents(t, dir), name)
	}
	for _, name := range []string{"to-d/g", "absolute/g"} {
		require.NoError(t, apply(Patcher{}, dir, update(name)...), name)
		files["d/g"] += "x\n"
		require.Equal(t, files, contents(t, dir), name)
	}
	for name, root := range map[string]string{"out": dir, "d/../out": dir, ".git": "", "to-git": "", "none": dir} {
		text := "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"
		planned := Patcher{}.Plan(core.PlanPatch{Root: root, Dir: filepath.Join(dir, name), Text: text})
		require.Error(t, planned.Err, name)
		x := "x\n"
		written := Patcher{}.Write(core.WritePatch{Root: root, Dir: filepath.Join(dir, name),
			Files: []patch.File{{Path: "new", After: &x}}})
		require.Error(t, written.Err, name)
	}
	require.Equal(t, map[string]string{"secret": "s\n"}, contents(t, outside))
	require.Equal(t, files, contents(t, dir))
	require.NoError(t, apply(Patcher{}, dir, "*** Delete File: chain"), "deleting a link keeps its target")
	delete(files, "chain")
	require.Equal(t, files, contents(t, dir))
}

func TestClosedDirectoriesAreNotPatched(t *testing.T) {
	dir := folder(t, map[string]string{"home/config": "c\n", "home/worktrees/f": "f\n", "link": "->home/config"})
	p := Patcher{Closed: []string{filepath.Join(dir, "home")}}
	for _, name := range []string{"home/config", "link", "home/worktrees/f"} {
		require.ErrorContains(t, apply(p, dir, "*** Update File: "+name, "@@", "+x"), "which patches do not change")
	}
	require.NoError(t, apply(p, filepath.Join(dir, "home/worktrees"), "*** Update File: f", "@@", "+x"),
		"a patch may be applied below a closed directory")
	require.ErrorContains(t, apply(p, filepath.Join(dir, "home"), "*** Update File: config", "@@", "+x"),
		"which patches do not change")
	require.ErrorContains(t, apply(p, filepath.Join(dir, "none"), "*** Add File: f", "+x"),
		"the directory of the patch cannot be used")
}

// TestNamesOfClosedDirectoriesDoNotMatter: volumes may ignore case, so a directory has several names. A
// link stands in for them here.
func TestNamesOfClosedDirectoriesDoNotMatter(t *testing.T) {
	dir := folder(t, map[string]string{"home/config": "c\n", "alias": "->home", "Repository/.GIT/hooks/f": "f\n"})
	home := filepath.Join(dir, "home")
	require.True(t, contains(home, filepath.Join(dir, "alias", "new", "file")))
	require.True(t, contains(home, home))
	require.False(t, contains(home, dir))
	require.False(t, contains(filepath.Join(dir, "none"), dir))
	require.ErrorContains(t, apply(Patcher{}, filepath.Join(dir, "Repository/.GIT/hooks"), "*** Update File: f", "@@", "+x"),
		"is in .git, which patches do not change")
}

func TestChangedFileIsNotOverwritten(t *testing.T) {
	a, b := "a\n", "b\n"
	for name, file := range map[string]patch.File{
		"changed":   {Path: "f", Before: &a, After: &b},
		"gone":      {Path: "g", Before: &a, After: &b},
		"there now": {Path: "f", After: &b},
		"deleted":   {Path: "f", Before: &a},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"f": "other\n"})
			err := Patcher{}.Write(core.WritePatch{Dir: dir, Files: []patch.File{{Path: "n/n", After: &b}, file}}).Err
			require.EqualError(t, err, file.Path+
				": the file has changed since the patch was read; read it again. No file was changed")
			require.Equal(t, map[string]string{"f": "other\n"}, contents(t, dir))
		})
	}
	dir := folder(t, map[string]string{"f": "a\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "f"), 0o444))
	require.ErrorContains(t, apply(Patcher{}, dir, "*** Update File: f", "@@", "+x"), "f: the file is read-only")
}

// faulty fails the n-th change of a disk, or all links.
type faulty struct {
	disk
	left    int
	noLinks bool
}

var errFault = errors.New("the disk fails")

func (f *faulty) fails() error {
	f.left--
	if f.left == 0 {
		return errFault
	}
	return nil
}

// Create creates nothing if it fails.
func (f *faulty) Create(name string, perm fs.FileMode) (*os.File, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.disk.Create(name, perm)
}

// Mkdir creates nothing if it fails.
func (f *faulty) Mkdir(name string, perm fs.FileMode) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.disk.Mkdir(name, perm)
}

// Link creates nothing if it fails.
func (f *faulty) Link(old, name string) error {
	if f.noLinks {
		return errors.ErrUnsupported
	}
	if err := f.fails(); err != nil {
		return err
	}
	return f.disk.Link(old, name)
}

// Rename renames nothing if it fails.
func (f *faulty) Rename(old, name string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.disk.Rename(old, name)
}

func TestPatchIsAllOrNothing(t *testing.T) {
	before := map[string]string{"f": "a\nb\n", "gone": "x\n", "old": "1\n2\n", "over": "o\n"}
	after := map[string]string{"f": "a\nc\n", "deep/er/new": "n\n", "over": "3\n2\n"}
	text := "*** Begin Patch\n*** Update File: f\n@@\n-b\n+c\n*** Add File: deep/er/new\n+n\n*** Delete File: gone\n" +
		"*** Update File: old\n*** Move to: over\n@@\n-1\n+3\n*** End Patch"
	for _, noLinks := range []bool{false, true} {
		for n, failed := 1, true; failed; n++ {
			t.Run(fmt.Sprintf("%v, %d", noLinks, n), func(t *testing.T) {
				dir := folder(t, before)
				planned := Patcher{}.Plan(core.PlanPatch{Dir: dir, Text: text})
				require.NoError(t, planned.Err)
				p, err := Patcher{}.open(core.PlanPatch{Dir: dir})
				require.NoError(t, err)
				defer p.close()
				disk := &faulty{p.base.disk, n, noLinks}
				p.base.disk = disk
				err = p.write(planned.Result.Files)
				if failed = disk.left <= 0; err == nil {
					require.Equal(t, after, contents(t, dir))
					return
				}
				require.ErrorIs(t, err, errFault)
				require.True(t, failed)
				require.ErrorContains(t, err, "No file was changed")
				require.Equal(t, before, contents(t, dir))
			})
		}
	}
}

// TestAbsoluteNamesStayBelowTheirRoot: a link out of a root is rejected, and so is a closed directory
// unless the patch is applied in it.
func TestAbsoluteNamesStayBelowTheirRoot(t *testing.T) {
	outside := folder(t, map[string]string{"secret": "s\n", "home/config": "c\n"})
	cwd, root := folder(t, map[string]string{"f": "f\n", "out": "->" + outside}),
		folder(t, map[string]string{"out": "->" + outside})
	p := Patcher{Closed: []string{filepath.Join(outside, "home")}}
	patches := func(name string) error {
		planned := p.Plan(core.PlanPatch{Root: cwd, Dir: cwd, Roots: []string{cwd, root},
			Text: "*** Begin Patch\n*** Add File: " + name + "\n+x\n*** End Patch"})
		x := "x\n"
		written := p.Write(core.WritePatch{Root: cwd, Dir: cwd, Roots: []string{cwd, root},
			Files: []patch.File{{Path: name, After: &x}}})
		require.Equal(t, planned.Err == nil, written.Err == nil, name)
		return written.Err
	}
	for _, name := range []string{cwd + "/n", root + "/d/n", outside + "/d/n"} {
		require.NoError(t, patches(name), name)
	}
	for name, message := range map[string]string{
		cwd + "/out/n": "it leads out of", root + "/out/n": "it leads out of", outside +
			"/home/n": "which patches do not change",
		outside + "/home/sub/n": "which patches do not change", outside + "/secret/n": "it is no folder",
	} {
		require.ErrorContains(t, patches(name), message, name)
	}
	text := "f\n"
	err := Patcher{}.Write(core.WritePatch{Dir: cwd, Roots: []string{cwd, root},
		Files: []patch.File{{Path: "f", Before: &text}, {Path: cwd + "/f", Before: &text}}}).Err
	require.ErrorContains(t, err, "the patch names this file twice")
	require.Equal(t, map[string]string{"secret": "s\n", "home/config": "c\n", "d/n": "x\n"}, contents(t, outside))
}

func TestNamesInOtherFormsOfUnicodeStayInTheFolder(t *testing.T) {
	outside := folder(t, map[string]string{"e\u0301": "s\n"})
	closed := folder(t, map[string]string{"e\u0301": "s\n"})
	dir := folder(t, map[string]string{"e\u0301/f": "a\n", "out": "->" + outside, "o\u0308": "->" + outside, "e\u0301/up": "->.."})
	before := contents(t, dir)
	for name, message := range map[string]string{
		"out/é": "it leads out of", "ö/e\u0301": "it leads out of", "é/up/ö/x": "it leads out of", closed + "/é": "patches do not change",
	} {
		err := apply(Patcher{Closed: []string{closed}}, dir, "*** Update File: "+name, "@@", "-s", "+x")
		require.Error(t, err, name)
		if runtime.GOOS != "windows" { // there, a name behind a link is not corrected
			require.ErrorContains(t, err, message, name)
		}
	}
	require.Equal(t, before, contents(t, dir))
	if runtime.GOOS == "windows" {
		return
	}
	require.NoError(t, apply(Patcher{}, dir, "*** Update File: é/up/é/f", "@@", "-a", "+b", "*** Add File: é/n", "+n"))
	before["e\u0301/f"], before["e\u0301/n"] = "b\n", "n\n"
	require.Equal(t, before, contents(t, dir))
}
