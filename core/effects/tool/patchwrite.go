package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"appserver/core"
	"appserver/core/pure/patch"
)

// Write writes the files of a planned patch. If a file has changed since, or the disk fails, it
// restores all files. If restoring fails, the error names each file that now has another name.
func (p Patcher) Write(e core.WritePatch) core.PatchWritten {
	dirs, err := p.open(core.PlanPatch{Root: e.Root, Dir: e.Dir, Roots: e.Roots, Protect: e.Protect})
	if err != nil {
		return core.PatchWritten{Effect: e.ID, Err: err}
	}
	defer dirs.close()
	return core.PatchWritten{Effect: e.ID, Err: dirs.write(e.Files)}
}

func (p *patchDirs) write(files []patch.File) error {
	w := &patchWriter{patchDirs: p}
	err := w.prepare(files)
	if err == nil {
		err = w.swap()
	}
	if err == nil {
		w.cleanUp()
		return nil
	}
	if undone := w.undo(); undone != nil {
		return fmt.Errorf("%w. Restoring the changed files failed as well: %w", err, undone)
	}
	return fmt.Errorf("%w. No file was changed", err)
}

// patchWriter is a patch in three phases: write temporary files, swap each with its old file, remove
// the old files.
type patchWriter struct {
	*patchDirs
	files []*patchedFile
	// created are the created directories, in order.
	created []createdDir
}

// createdDir is a created directory, by its resolved name.
type createdDir struct {
	*root
	name string
}

// patchedFile is a file of a patch. Names are resolved, and relative to the root.
type patchedFile struct {
	patch.File
	*root
	name string
	// temp is the name of the temporary file, or empty. Old is the name of the former file while the
	// patch may still fail, or empty.
	temp, old string
	// done is set when the new content has the file's name.
	done bool
	// mode is the mode of the file, or of the file that it is moved from; 0 for a new one.
	mode fs.FileMode
}

func (w *patchWriter) prepare(files []patch.File) error {
	modes := map[string]fs.FileMode{}
	names := map[string]bool{}
	for _, f := range files {
		next, err := w.locateUnchanged(f)
		if err == nil && names[next.full()] {
			err = errors.New("the patch names this file twice, once by a link")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		names[next.full()] = true
		modes[f.Path] = next.mode
		w.files = append(w.files, next)
	}
	for _, f := range w.files {
		if f.Before == nil {
			f.mode = modes[f.From]
		}
		if err := w.writeTemp(f); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// full returns the absolute name of the file.
func (f *patchedFile) full() string { return path.Join(f.dir, f.name) }

// locateUnchanged finds a file, and rejects it if it has changed.
func (w *patchWriter) locateUnchanged(f patch.File) (*patchedFile, error) {
	at, given, err := w.locate(f.Path)
	if err != nil {
		return nil, err
	}
	name, err := w.resolve(at, given, f.After != nil)
	if err != nil {
		return nil, err
	}
	next := &patchedFile{File: f, root: at, name: name}
	content, err := "", error(nil)
	through, err := w.resolve(at, given, true)
	if err == nil {
		content, next.mode, err = at.read(through)
	}
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case err != nil && !missing:
		return nil, err
	case missing != (f.Before == nil), !missing && content != *f.Before:
		return nil, errors.New("the file has changed since the patch was read; read it again")
	case !missing && f.After != nil && next.mode&0o200 == 0:
		return nil, errors.New("the file is read-only")
	}
	return next, nil
}

// writeTemp writes the new content to a temporary file in the same folder.
func (w *patchWriter) writeTemp(f *patchedFile) error {
	if f.After == nil {
		return nil
	}
	if err := w.mkdirs(f.root, path.Dir(f.name)); err != nil {
		return err
	}
	name := unusedName(f.name)
	file, err := f.Create(name, 0o666)
	if err != nil {
		return err
	}
	f.temp = name
	_, err = file.WriteString(*f.After)
	if err == nil && f.mode != 0 {
		err = file.Chmod(f.mode)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// mkdirs creates missing directories.
func (w *patchWriter) mkdirs(at *root, dir string) error {
	if dir == "." {
		return nil
	}
	switch info, err := at.Stat(dir); {
	case err == nil && info.Kind == fs.ModeDir:
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", dir)
	}
	if err := w.mkdirs(at, path.Dir(dir)); err != nil {
		return err
	}
	if err := at.Mkdir(dir, 0o777); err != nil {
		return err
	}
	w.created = append(w.created, createdDir{at, dir})
	return nil
}

// swap replaces each file by its new content.
func (w *patchWriter) swap() error {
	for _, f := range w.files {
		if err := f.replace(); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// replace keeps the former file under another name and renames the new file over it, so that the name
// always exists. A new file never replaces another. If the disk has no hard links, both files are
// renamed.
func (f *patchedFile) replace() error {
	old := unusedName(f.name)
	switch {
	case f.Before == nil:
		err := f.Link(f.temp, f.name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = f.Rename(f.temp, f.name)
		}
		f.done = err == nil
		return err
	case f.After == nil:
		err := f.Rename(f.name, old)
		f.old, f.done = old, err == nil
		return err
	}
	err := f.Link(f.name, old)
	if err != nil {
		err = f.Rename(f.name, old)
	}
	if f.old, f.done = old, err == nil; err != nil {
		return err
	}
	return f.Rename(f.temp, f.name)
}

// undo restores all files, in reverse order. It returns the first error.
func (w *patchWriter) undo() error {
	var first error
	keep := func(err error) {
		if first == nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
			first = err
		}
	}
	for i := len(w.files) - 1; i >= 0; i-- {
		switch f := w.files[i]; {
		case f.done && f.Before == nil:
			keep(f.Remove(f.name))
		case f.done:
			err := f.Rename(f.old, f.name)
			if err != nil {
				err = fmt.Errorf("%s is now %s: %w", f.Path, f.old, err)
			}
			keep(err)
			if err != nil {
				f.old = ""
			}
		}
	}
	w.cleanUp()
	for i := len(w.created) - 1; i >= 0; i-- {
		keep(w.created[i].RemoveFolder(w.created[i].name))
	}
	return first
}

// cleanUp removes temporary and former files. It ignores errors.
func (w *patchWriter) cleanUp() {
	for _, f := range w.files {
		for _, name := range []string{f.temp, f.old} {
			if name != "" {
				_ = f.Remove(name)
			}
		}
	}
}

// unusedName returns an unused name in the folder of a file.
func unusedName(name string) string { return path.Join(path.Dir(name), ".patch-"+rand.Text()) }
