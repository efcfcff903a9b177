package credentials

import (
	"errors"
	"fmt"
	"sync"
	"time"

	system "github.com/zalando/go-keyring"

	"appserver/protocol"
)

const (
	// keyringService is the service of the entries in the keyring.
	keyringService = "Codex MCP Credentials"
	// keyringTime bounds a call of the keyring. Some keyrings wait for a user who is not there.
	keyringTime = 5 * time.Second
	// silentTime is how long a keyring that did not answer is not called again.
	silentTime = 5 * time.Minute
)

// errNoKeyring is the cause if the system has no keyring that answers.
var errNoKeyring = errors.New("no keyring of the system answers: start one, or set mcp_oauth_credentials_store = \"file\"")

// keyring is the keyring of the system. It calls the keyring in other goroutines. One that does not answer
// occupies one goroutine.
type keyring struct {
	// limit bounds a call, present reports whether calls can succeed.
	limit   time.Duration
	present func() bool

	mu     sync.Mutex // held during a call
	silent time.Time  // the time of a call without an answer
}

func newKeyring() *keyring { return &keyring{limit: keyringTime, present: hasKeyring} }

// call runs do in another goroutine, and gives up after the limit.
func (k *keyring) call(do func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.present() || !k.silent.IsZero() && time.Since(k.silent) < silentTime {
		return errNoKeyring
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		switch {
		case errors.Is(err, system.ErrUnsupportedPlatform):
			return errNoKeyring
		case err != nil && !errors.Is(err, system.ErrNotFound):
			// The texts of a keyring say nothing about the entry.
			return fmt.Errorf("the keyring of the system refuses: %w", err)
		}
		return err
	case <-time.After(k.limit):
		k.silent = time.Now()
		return errNoKeyring
	}
}

func (k *keyring) load(server, url string) (*Login, error) {
	var text string
	err := k.call(func() (err error) {
		text, err = system.Get(keyringService, Key(server, url))
		return err
	})
	if errors.Is(err, system.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var e keyringEntry
	if protocol.Unmarshal([]byte(text), &e) != nil {
		return nil, fmt.Errorf("the entry %s of the keyring cannot be read: remove it, and log in again", Key(server, url))
	}
	l := e.login()
	return l, l.is(server, url)
}

func (k *keyring) save(l *Login) error {
	text, err := protocol.Marshal(l.toKeyring())
	if err != nil {
		return err
	}
	return k.call(func() error { return system.Set(keyringService, Key(l.Server, l.URL), string(text)) })
}

func (k *keyring) remove(server, url string) (bool, error) {
	err := k.call(func() error { return system.Delete(keyringService, Key(server, url)) })
	if errors.Is(err, system.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
