package account

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

// The values of cli_auth_credentials_store.
const (
	File    = "file"
	Keyring = "keyring"
	// Auto uses the keyring if it answers, and the file otherwise.
	Auto = "auto"
	// Ephemeral keeps logins in memory.
	Ephemeral = "ephemeral"
)

// place is a place of logins.
type place int

const (
	nowhere place = iota
	inFile
	inKeyring
)

// Store is the place of the login of a home. Its methods can be called concurrently.
type Store struct {
	mode  string
	file  file
	ring  *keyring.Service
	entry string

	// changing is held during a change of a login in memory.
	changing sync.Mutex

	mu sync.Mutex
	// memory is the login of the mode Ephemeral.
	memory *Login
}

// NewStore returns the store of a home. Mode is one of the constants.
func NewStore(home, mode string) *Store {
	return &Store{mode: mode, file: file{home, disk.OS()}, entry: entryOf(home),
		ring: keyring.New("Codex Auth", "cli_auth_credentials_store")}
}

// entryOf returns the name of the entry of a home in the keyring.
func entryOf(home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	sum := sha256.Sum256([]byte(home))
	return "cli|" + hex.EncodeToString(sum[:])[:16]
}

// Load returns the login, or nil if there is none.
func (s *Store) Load() (*Login, error) {
	switch s.mode {
	case Ephemeral:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.memory, nil
	case File:
		return s.file.load()
	}
	l, err := s.loadKeyring()
	if s.mode == Keyring || l != nil {
		return l, err
	}
	l, fileErr := s.file.load()
	if l == nil && fileErr == nil && !errors.Is(err, keyring.ErrNone) {
		return nil, err // the login may be in the keyring
	}
	return l, fileErr
}

func (s *Store) loadKeyring() (*Login, error) {
	text, found, err := s.ring.Get(s.entry)
	if err != nil || !found {
		return nil, err
	}
	l, err := parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the entry %s of the keyring cannot be read: %w: remove it, and sign in again", s.entry, err)
	}
	l.place = inKeyring
	return l, nil
}

// Update replaces the login durably. change gets the stored login, or nil, and returns the one to store, or the stored
// one to store nothing. Update returns what is stored afterwards. Other processes wait meanwhile.
func (s *Store) Update(ctx context.Context, change func(stored *Login) (*Login, error)) (*Login, error) {
	lock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock()
	stored, err := s.Load()
	if err != nil {
		return nil, err
	}
	next, err := change(stored)
	if err != nil || next == stored {
		return stored, err
	}
	if err := s.save(next); err != nil {
		return stored, fmt.Errorf("the login cannot be stored: %w", err)
	}
	return next, nil
}

// lock acquires the locks of the home, or the one of the memory.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if s.mode == Ephemeral {
		s.changing.Lock()
		return s.changing.Unlock, nil
	}
	return s.file.lock(ctx, commitLocks...)
}

// save stores a login where it was read, or in the preferred place.
func (s *Store) save(l *Login) error {
	if s.mode == Ephemeral {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.memory = l
		return nil
	}
	text, err := l.encode()
	if err != nil {
		return err
	}
	if s.mode == File || s.mode == Auto && l.place == inFile {
		return s.file.save(text)
	}
	err = s.ring.Set(s.entry, string(text))
	if err == nil {
		_, err = s.file.remove()
		return err
	}
	if s.mode == Keyring || l.place == inKeyring {
		return err
	}
	// An older entry of the keyring would hide the one of the file.
	if _, removed := s.ring.Remove(s.entry); removed != nil && !errors.Is(removed, keyring.ErrNone) {
		return err
	}
	return s.file.save(text)
}

// Remove removes the login from each place, and reports whether there was one. A file that cannot be read remains.
func (s *Store) Remove(ctx context.Context) (bool, error) {
	lock, err := s.lock(ctx)
	if err != nil {
		return false, err
	}
	defer lock()
	if s.mode == Ephemeral {
		s.mu.Lock()
		defer s.mu.Unlock()
		had := s.memory != nil
		s.memory = nil
		return had, nil
	}
	inRing := false
	if s.mode != File {
		if inRing, err = s.ring.Remove(s.entry); err != nil && (s.mode == Keyring || !errors.Is(err, keyring.ErrNone)) {
			return false, fmt.Errorf("the login cannot be removed: %w", err)
		}
	}
	if _, err := s.file.load(); err != nil {
		return inRing, err
	}
	onDisk, err := s.file.remove()
	return inRing || onDisk, err
}
