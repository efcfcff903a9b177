package providerkey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"appserver/platform/excerpt"
	"appserver/platform/keyring"
	"appserver/platform/vault"
)

const (
	fileName = "appserver-keys.json"
	lockName = "appserver-keys.lock"
	// MaxKey bounds a key, in bytes.
	MaxKey = 16 << 10
	// maxName bounds the name of a provider, in bytes.
	maxName = 256
	// maxSecrets bounds the keys that are remembered as secrets.
	maxSecrets = 2 * maxKeys
)

// Store has the keys of the providers of a home. Its methods can be called concurrently.
type Store struct {
	// Changed is called after a change by another process was noticed; it may be nil. It is set before the first use.
	Changed func()

	vault *vault.Store[document]

	mu sync.Mutex
	// seen are the entries that were read last. changes counts their changes. secrets are all keys that were read
	// or stored; the slice is replaced, and never changed.
	seen    map[string]entry
	changes uint64
	secrets []string
}

// New returns the store of a home. Mode is one of the constants of package vault.
func New(home, mode string) *Store {
	return &Store{seen: map[string]entry{}, vault: vault.New(vault.Options[document]{
		Home: home, File: fileName, Mode: mode, Locks: []string{lockName},
		Ring: keyring.New("Appserver Provider Keys", "cli_auth_credentials_store"), Entry: vault.Entry(home),
		Form: vault.Form[document]{Parse: parse, Encode: (*document).encode,
			Place: func(d *document) *vault.Place { return &d.place }},
		Subject: "the key", Advice: "type the keys of providers again",
	})}
}

// IsEphemeral reports whether keys are in the memory of this process only.
func (s *Store) IsEphemeral() bool { return s.vault.Mode == vault.Ephemeral }

// Check reads the keys, and returns the reason if they cannot be read.
func (s *Store) Check() error {
	_, err := s.load()
	return err
}

// load reads the keys of providers.
func (s *Store) load() (map[string]entry, error) {
	d, err := s.vault.Load()
	if err != nil {
		return nil, err
	}
	if s.note(d) && s.Changed != nil {
		s.Changed()
	}
	return d.copied().entries, nil
}

// Key returns the key of a provider with an address, or "" if there is none. The error is an [*UnusableError] if the
// key is for another origin, or cannot be read.
func (s *Store) Key(provider, address string) (string, error) {
	entries, err := s.load()
	if err != nil {
		return "", err
	}
	e, ok := entries[provider]
	if !ok {
		return "", nil
	}
	if checkKey(e.key) != nil {
		return "", &UnusableError{fmt.Sprintf("the stored key of model provider %s cannot be read", shown(provider)), provider}
	}
	origin, err := OriginOf(address)
	if err != nil {
		return "", err
	}
	if e.origin != string(origin) {
		return "", &UnusableError{fmt.Sprintf("the key of model provider %s was typed for %s and is not sent to %s",
			shown(provider), shown(e.origin), origin), provider}
	}
	return e.key, nil
}

// note remembers the entries of a document, and its keys as secrets. It reports whether they have changed.
func (s *Store) note(d *document) bool {
	entries := d.copied().entries
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(a, b entry) bool { return a.key == b.key && a.origin == b.origin }
	if maps.EqualFunc(s.seen, entries, same) {
		return false
	}
	s.seen = entries
	s.changes++
	secrets := slices.Clone(s.secrets)
	for _, e := range entries {
		if e.key != "" && !slices.Contains(secrets, e.key) {
			secrets = append(secrets, e.key)
		}
	}
	s.secrets = secrets[max(0, len(secrets)-maxSecrets):]
	return true
}

// Secrets returns the keys that this process has read or stored, also those that were removed since. The caller does
// not change them.
func (s *Store) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secrets
}

// Changes counts the changes of keys that this process has noticed.
func (s *Store) Changes() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// Set stores the key of a provider for the origin of its address, in place of another one. Open permits an origin to
// which requests are not encrypted.
func (s *Store) Set(ctx context.Context, provider, address, key string, open bool) error {
	key = strings.TrimSpace(key)
	if err := checkKey(key); err != nil {
		return err
	}
	if provider == "" || len(provider) > maxName {
		return fmt.Errorf("the name of the provider is empty, or longer than %d bytes", maxName)
	}
	origin, err := OriginOf(address)
	if err != nil {
		return err
	}
	if origin.IsOpen() && !open {
		return &OpenError{origin}
	}
	return s.update(ctx, func(d *document) (*document, error) { return d.with(provider, origin, key) })
}

// Remove removes the key of a provider, and reports whether there was one.
func (s *Store) Remove(ctx context.Context, provider string) (removed bool, err error) {
	err = s.update(ctx, func(d *document) (*document, error) {
		if _, removed = d.copied().entries[provider]; !removed {
			return d, nil
		}
		return d.without(provider), nil
	})
	return removed && err == nil, err
}

func (s *Store) update(ctx context.Context, change func(*document) (*document, error)) error {
	d, err := s.vault.Update(ctx, change)
	if err == nil {
		s.note(d)
	}
	return err
}

// checkKey rejects a text that is no key. The error has no part of it.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case len(key) > MaxKey:
		return fmt.Errorf("the key is longer than %d bytes", MaxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`", r) }):
		return errors.New("the key has blanks, quotes or characters that no key has: type the key alone")
	}
	return nil
}

// shown returns a text of others in one line without control characters, and bounded.
func shown(text string) string { return excerpt.FirstRunes(excerpt.Line(text), 200) }
