package credentials

import (
	"context"
	"errors"
	"fmt"
	"io"

	"appserver/platform/disk"
	system "appserver/platform/keyring"
)

// The values of mcp_oauth_credentials_store.
const (
	// Auto uses the keyring if it answers, and the file otherwise.
	Auto    = "auto"
	File    = "file"
	Keyring = "keyring"
)

// Store is the place of the logins of a home. Its methods can be called concurrently.
type Store struct {
	mode    string
	file    file
	keyring keyring
}

// New returns the store of a home. Mode is one of the constants.
func New(home, mode string) *Store {
	return &Store{mode: mode, file: file{home, disk.OS()}, keyring: newKeyring()}
}

// WithMode returns a store of the same home with another mode.
func (s *Store) WithMode(mode string) *Store { return &Store{mode, s.file, s.keyring} }

// On returns a store of the same home on another disk.
func (s *Store) On(fs disk.FS) *Store { return &Store{s.mode, file{s.file.home, fs}, s.keyring} }

// Load returns the login at a server, or nil if there is none.
func (s *Store) Load(server, url string) (*Login, error) {
	if s.mode == File {
		return s.file.load(server, url)
	}
	l, err := s.keyring.load(server, url)
	if s.mode == Keyring || l != nil {
		return l, err
	}
	l, fileErr := s.file.load(server, url)
	if l == nil && fileErr == nil && !errors.Is(err, system.ErrNone) {
		return nil, err // the login may be in the keyring
	}
	return l, fileErr
}

// Save stores a login durably: where it was read, or in the preferred place.
func (s *Store) Save(l *Login) error {
	if s.mode == File || s.mode == Auto && l.place == inFile {
		return s.file.save(l)
	}
	err := s.keyring.save(l)
	if err == nil {
		_, err = s.file.remove(l.Server, l.URL)
		return err
	}
	if s.mode == Keyring || l.place == inKeyring {
		return err
	}
	// An older entry of the keyring would hide the one of the file.
	if _, removed := s.keyring.remove(l.Server, l.URL); removed != nil && !errors.Is(removed, system.ErrNone) {
		return err
	}
	return s.file.save(l)
}

// Add stores a new login in the preferred place, and in no other.
func (s *Store) Add(l *Login) error {
	l.place = nowhere
	return s.Save(l)
}

// Remove removes a login from each place, and reports whether there was one.
func (s *Store) Remove(server, url string) (bool, error) {
	inRing, err := s.keyring.remove(server, url)
	if s.mode == Keyring && err != nil {
		return false, err
	}
	inFile, fileErr := s.file.remove(server, url)
	switch {
	case fileErr != nil:
		return inRing, fileErr
	case err != nil && s.mode == Auto && !errors.Is(err, system.ErrNone):
		return inFile, fmt.Errorf("the keyring may still have the login: %w", err)
	}
	return inRing || inFile, nil
}

// Lock keeps other processes from changing a login, until the result is closed.
func (s *Store) Lock(ctx context.Context, server, url string) (io.Closer, error) {
	return s.file.lock(ctx, lockName(server, url))
}
