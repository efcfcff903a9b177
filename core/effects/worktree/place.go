package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
)

// swap first moves the removed files away, with the folders that are empty then, so that a file can
// replace a folder.
func (s *staging) swap() error {
	for i, p := range s.steps {
		p.old = "old-" + strconv.Itoa(i)
		if p.Before.Mode != 0 {
			continue
		}
		if err := s.moveAway(p); err != nil {
			return fmt.Errorf("%q: %w", p.Path, err)
		}
	}
	for _, p := range s.steps {
		if p.Before.Mode == 0 {
			continue
		}
		if err := s.place(p); err != nil {
			return fmt.Errorf("%q: %w", p.Path, err)
		}
	}
	return nil
}

// moveAway removes a file, by a rename.
func (s *staging) moveAway(p *step) error {
	dir, _, err := s.openFolder(path.Dir(p.Path), false)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Rename(path.Base(p.Path), s.folder, p.old); err != nil {
		return err
	}
	p.done = true
	if err := s.verify(p); err != nil {
		return err
	}
	s.removeEmpty(path.Dir(p.Path))
	return nil
}

// verify checks that the former file is still the one of the plan.
func (s *staging) verify(p *step) error {
	now, err := seeAt(s.folder, p.old)
	if now.Perm = p.seen.Perm; err == nil && now != p.seen {
		return &ConflictError{Paths: []string{p.Path}}
	}
	return err
}

// removeEmpty removes a folder and its parents if they are empty.
func (s *staging) removeEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if s.removeFolder(dir) != nil {
			return
		}
	}
}

// removeFolders removes a folder that contains only folders.
func (s *staging) removeFolders(dir string) {
	var folders []string
	_ = s.walk(dir, func(name string, isFolder bool) {
		if isFolder {
			folders = append(folders, name)
		}
	})
	s.unmake(folders)
}

// removeFolder removes an empty folder.
func (s *staging) removeFolder(dir string) error {
	parent, _, err := s.openFolder(path.Dir(dir), false)
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.RemoveFolder(path.Base(dir))
}

// place renames a new file to its path, so that there is a file at any moment. A new path must not
// exist.
func (s *staging) place(p *step) error {
	dir, made, err := s.openFolder(path.Dir(p.Path), true)
	p.made = made
	if err != nil {
		return err
	}
	defer dir.Close()
	name := path.Base(p.Path)
	if p.seen.Kind == fs.ModeDir {
		s.removeFolders(p.Path)
	}
	if !p.seen.isFile() {
		err := s.folder.Link(p.fresh, dir, name)
		if errors.Is(err, fs.ErrExist) {
			return &ConflictError{Paths: []string{p.Path}}
		}
		if err != nil {
			err = s.folder.Rename(p.fresh, dir, name)
		}
		p.done = err == nil
		return err
	}
	if err := dir.Link(name, s.folder, p.old); err != nil {
		if err := dir.Rename(name, s.folder, p.old); err != nil {
			return err
		}
		p.done = true
	}
	if err := s.verify(p); err != nil {
		return err
	}
	err = s.folder.Rename(p.fresh, dir, name)
	p.done = p.done || err == nil
	return err
}

// undo reverts all steps, the last one first. It returns the first error.
func (s *staging) undo() error {
	var first error
	for i := len(s.steps) - 1; i >= 0; i-- {
		p := s.steps[i]
		if err := s.putBack(p); err != nil && first == nil {
			first = fmt.Errorf("%q, now %s: %w", p.Path, p.old, err)
		}
	}
	return first
}

func (s *staging) putBack(p *step) error {
	if !p.done {
		s.unmake(p.made)
		return nil
	}
	dir, _, err := s.openFolder(path.Dir(p.Path), true)
	if err != nil {
		return err
	}
	defer dir.Close()
	if p.seen.isFile() {
		err = s.folder.Rename(p.old, dir, path.Base(p.Path))
	} else {
		err = dir.Remove(path.Base(p.Path))
	}
	s.unmake(p.made)
	return err
}

// unmake removes the created folders, the last one first.
func (s *staging) unmake(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		_ = s.removeFolder(made[i])
	}
}
