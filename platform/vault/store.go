package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"appserver/platform/disk"
	"appserver/platform/keyring"
)

// The modes of stores.
const (
	File    = "file"
	Keyring = "keyring"
	// Auto uses the keyring if it answers, and the file otherwise.
	Auto = "auto"
	// Ephemeral keeps the document in memory.
	Ephemeral = "ephemeral"
)

// Place is where a document was read. The zero value is nowhere.
type Place int

const (
	inFile Place = iota + 1
	inKeyring
)

// Form converts documents. The errors of Parse have no part of the text.
type Form[T any] struct {
	Parse  func(text []byte) (*T, error)
	Encode func(*T) ([]byte, error)
	// Place returns the field with the place of a document. A copy of a document is stored in the same place.
	Place func(*T) *Place
}

// Options describe where the document of a home is.
type Options[T any] struct {
	// Home is the folder of the file and of the locks. File and Locks are their names. A change holds all locks.
	Home, File string
	Locks      []string
	// Mode is one of the constants.
	Mode string
	// Ring and Entry are the place in the keyring.
	Ring  *keyring.Service
	Entry string
	Form  Form[T]
	// Subject names the document in errors. Advice is the action after the user has moved a damaged one away.
	Subject, Advice string
	// Disk has the file.
	Disk disk.FS
}

// Store is the place of a document. Its methods can be called concurrently.
type Store[T any] struct {
	Options[T]

	// changing is held during a change of a document in memory.
	changing sync.Mutex

	mu sync.Mutex
	// memory is the document of the mode Ephemeral, or nil.
	memory *T
}

// New returns a store. A Disk that is nil is that of the system.
func New[T any](o Options[T]) *Store[T] {
	if o.Disk == nil {
		o.Disk = disk.OS()
	}
	return &Store[T]{Options: o}
}

// Entry returns the name of the entry of a home in a keyring.
func Entry(home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	sum := sha256.Sum256([]byte(home))
	return "cli|" + hex.EncodeToString(sum[:])[:16]
}

// Load returns the document, or nil if there is none.
func (s *Store[T]) Load() (*T, error) {
	switch s.Mode {
	case Ephemeral:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.memory, nil
	case File:
		return s.loadFile()
	}
	d, err := s.loadKeyring()
	if s.Mode == Keyring || d != nil {
		return d, err
	}
	d, fileErr := s.loadFile()
	if d == nil && fileErr == nil && !errors.Is(err, keyring.ErrNone) {
		return nil, err // the document may be in the keyring
	}
	return d, fileErr
}

func (s *Store[T]) loadKeyring() (*T, error) {
	text, found, err := s.Ring.Get(s.Entry)
	if err != nil || !found {
		return nil, err
	}
	d, err := s.Form.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the entry %s of the keyring cannot be read: %w: remove it, and %s", s.Entry, err, s.Advice)
	}
	*s.Form.Place(d) = inKeyring
	return d, nil
}

// Update replaces the document durably. change gets the stored document, or nil, and returns the one to store, or the
// stored one to store nothing. Update returns what is stored afterwards. Other processes wait meanwhile.
func (s *Store[T]) Update(ctx context.Context, change func(stored *T) (*T, error)) (*T, error) {
	unlock, err := s.lockChange(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	stored, err := s.Load()
	if err != nil {
		return nil, err
	}
	next, err := change(stored)
	if err != nil || next == stored {
		return stored, err
	}
	if err := s.save(next); err != nil {
		return stored, fmt.Errorf("%s cannot be stored: %w", s.Subject, err)
	}
	return next, nil
}

// lockChange acquires the locks for a change of the document.
func (s *Store[T]) lockChange(ctx context.Context) (unlock func(), err error) {
	if s.Mode == Ephemeral {
		s.changing.Lock()
		return s.changing.Unlock, nil
	}
	return s.Lock(ctx, s.Locks...)
}

// save stores a document where it was read, or in the preferred place.
func (s *Store[T]) save(d *T) error {
	if s.Mode == Ephemeral {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.memory = d
		return nil
	}
	text, err := s.Form.Encode(d)
	if err != nil {
		return err
	}
	place := *s.Form.Place(d)
	if s.Mode == File || s.Mode == Auto && place == inFile {
		return s.saveFile(text)
	}
	err = s.Ring.Set(s.Entry, string(text))
	if err == nil {
		_, err = s.removeFile()
		return err
	}
	if s.Mode == Keyring || place == inKeyring {
		return err
	}
	// An older entry of the keyring would hide the one of the file.
	if _, removed := s.Ring.Remove(s.Entry); removed != nil && !errors.Is(removed, keyring.ErrNone) {
		return err
	}
	return s.saveFile(text)
}

// Remove removes the document from each place, and reports whether there was one. A file that cannot be read remains.
func (s *Store[T]) Remove(ctx context.Context) (bool, error) {
	unlock, err := s.lockChange(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if s.Mode == Ephemeral {
		s.mu.Lock()
		defer s.mu.Unlock()
		had := s.memory != nil
		s.memory = nil
		return had, nil
	}
	inRing := false
	if s.Mode != File {
		inRing, err = s.Ring.Remove(s.Entry)
		if err != nil && (s.Mode == Keyring || !errors.Is(err, keyring.ErrNone)) {
			return false, fmt.Errorf("%s cannot be removed: %w", s.Subject, err)
		}
	}
	if _, err := s.loadFile(); err != nil {
		return inRing, err
	}
	onDisk, err := s.removeFile()
	return inRing || onDisk, err
}
