package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"appserver/core"
	"appserver/core/patch"
)

// Write writes the files of a planned patch. If a file has changed since, or the disk fails, it
// restores all files. If restoring fails, the error names each file that now has another name.
func (p Patcher) Write(e core.WritePatch) core.PatchWritten {
	places, err := p.open(core.PlanPatch{Root: e.Root, Dir: e.Dir, Roots: e.Roots, Protect: e.Protect})
	if err != nil {
		return core.PatchWritten{Effect: e.ID, Err: err}
	}
	defer places.close()
	return core.PatchWritten{Effect: e.ID, Err: places.write(e.Files)}
}

func (p *places) write(files []patch.File) error {
	w := &writing{places: p}
	err := w.prepare(files)
	if err == nil {
		err = w.swap()
	}
	if err == nil {
		w.tidy()
		return nil
	}
	if undone := w.undo(); undone != nil {
		return fmt.Errorf("%w. Restoring the changed files failed as well: %w", err, undone)
	}
	return fmt.Errorf("%w. No file was changed", err)
}

// writing is a patch in three phases: write the new files next to their places, swap each with its
// old file, remove the old files.
type writing struct {
	*places
	files []*written
	// made are the created directories, in order.
	made []folderMade
}

// folderMade is a created directory, by its resolved name.
type folderMade struct {
	*root
	name string
}

// written is a file of a patch. Names are resolved, and relative to the root.
type written struct {
	patch.File
	*root
	name string
	// fresh is the name of the new content. Old is the name of the former file while the patch may
	// still fail, or empty.
	fresh, old string
	// done is set when the new content has the file's name.
	done bool
	// mode is the mode of the file, or of the file that it is moved from; 0 for a new one.
	mode fs.FileMode
}

func (w *writing) prepare(files []patch.File) error {
	modes := map[string]fs.FileMode{}
	names := map[string]bool{}
	for _, f := range files {
		next, err := w.begin(f)
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
		if err := w.lay(f); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// full returns the absolute name of the file.
func (f *written) full() string { return path.Join(f.dir, f.name) }

// begin finds a file, and rejects it if it has changed.
func (w *writing) begin(f patch.File) (*written, error) {
	at, given, err := w.locate(f.Path)
	if err != nil {
		return nil, err
	}
	name, err := w.resolve(at, given, f.After != nil)
	if err != nil {
		return nil, err
	}
	next := &written{File: f, root: at, name: name}
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

// lay writes the new content next to the file's place.
func (w *writing) lay(f *written) error {
	if f.After == nil {
		return nil
	}
	if err := w.mkdirs(f.root, path.Dir(f.name)); err != nil {
		return err
	}
	name := beside(f.name)
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f.fresh = name
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
func (w *writing) mkdirs(at *root, dir string) error {
	if dir == "." {
		return nil
	}
	switch info, err := at.Lstat(dir); {
	case err == nil && info.IsDir():
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
	w.made = append(w.made, folderMade{at, dir})
	return nil
}

// swap replaces each file by its new content.
func (w *writing) swap() error {
	for _, f := range w.files {
		if err := f.place(); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// place keeps the former file under another name and renames the new file over it, so that the name
// always exists. A new file never replaces another. If the disk has no hard links, both files are
// renamed.
func (f *written) place() error {
	old := beside(f.name)
	switch {
	case f.Before == nil:
		err := f.Link(f.fresh, f.name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = f.Rename(f.fresh, f.name)
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
	return f.Rename(f.fresh, f.name)
}

// undo restores all files, in reverse order. It returns the first error.
func (w *writing) undo() error {
	var first error
	note := func(err error) {
		if first == nil && err != nil && !errors.Is(err, fs.ErrNotExist) {
			first = err
		}
	}
	for i := len(w.files) - 1; i >= 0; i-- {
		switch f := w.files[i]; {
		case f.done && f.Before == nil:
			note(f.Remove(f.name))
		case f.done:
			err := f.Rename(f.old, f.name)
			if err != nil {
				err = fmt.Errorf("%s is now %s: %w", f.Path, f.old, err)
			}
			note(err)
			if err != nil {
				f.old = ""
			}
		}
	}
	w.tidy()
	for i := len(w.made) - 1; i >= 0; i-- {
		note(w.made[i].Remove(w.made[i].name))
	}
	return first
}

// tidy removes the files next to the places. It ignores errors.
func (w *writing) tidy() {
	for _, f := range w.files {
		for _, name := range []string{f.fresh, f.old} {
			if name != "" {
				_ = f.Remove(name)
			}
		}
	}
}

// beside returns an unused name in the folder of a file.
func beside(name string) string { return path.Join(path.Dir(name), ".patch-"+rand.Text()) }
