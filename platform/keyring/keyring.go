package keyring

import (
	"errors"
	"fmt"
	"sync"
	"time"

	system "github.com/zalando/go-keyring"
)

const (
	// callTime bounds a call of the keyring. Some keyrings wait for a user who is not there.
	callTime = 5 * time.Second
	// silentTime is how long a keyring that did not answer is not called again.
	silentTime = 5 * time.Minute
)

// ErrNone is the cause if the system has no keyring that answers.
var ErrNone = errors.New("no keyring of the system answers")

// Service has the entries of one service. Its methods can be called concurrently.
type Service struct {
	// Name is the name of the service in the keyring. Setting is the key of the configuration that selects a file in
	// place of the keyring.
	Name, Setting string
	// Limit bounds a call. Present reports whether calls can succeed.
	Limit   time.Duration
	Present func() bool

	mu     sync.Mutex // held during a call
	silent time.Time  // the time of a call without an answer
}

// New returns a service.
func New(name, setting string) *Service {
	return &Service{Name: name, Setting: setting, Limit: callTime, Present: hasBus}
}

func (s *Service) missing() error {
	return fmt.Errorf("%w: start one, or set %s = \"file\"", ErrNone, s.Setting)
}

// call runs do in another goroutine, and gives up after the limit.
func (s *Service) call(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Present() || !s.silent.IsZero() && time.Since(s.silent) < silentTime {
		return s.missing()
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		switch {
		case errors.Is(err, system.ErrUnsupportedPlatform):
			return s.missing()
		case err != nil && !errors.Is(err, system.ErrNotFound):
			// The texts of a keyring say nothing about the entry.
			return fmt.Errorf("the keyring of the system refuses: %w", err)
		}
		return err
	case <-time.After(s.Limit):
		s.silent = time.Now()
		return s.missing()
	}
}

// Get returns an entry, and whether it exists.
func (s *Service) Get(entry string) (text string, found bool, err error) {
	texts := make(chan string, 1) // a late answer changes nothing
	err = s.call(func() error {
		text, err := system.Get(s.Name, entry)
		texts <- text
		return err
	})
	if errors.Is(err, system.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return <-texts, true, nil
}

// Set writes an entry.
func (s *Service) Set(entry, text string) error {
	return s.call(func() error { return system.Set(s.Name, entry, text) })
}

// Remove removes an entry, and reports whether it existed.
func (s *Service) Remove(entry string) (bool, error) {
	err := s.call(func() error { return system.Delete(s.Name, entry) })
	if errors.Is(err, system.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
