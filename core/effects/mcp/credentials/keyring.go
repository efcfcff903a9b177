package credentials

import (
	"fmt"

	system "appserver/platform/keyring"
	"appserver/protocol"
)

// keyring has the logins in the keyring of the system.
type keyring struct{ *system.Service }

func newKeyring() keyring {
	return keyring{system.New("Codex MCP Credentials", "mcp_oauth_credentials_store")}
}

func (k keyring) load(server, url string) (*Login, error) {
	text, found, err := k.Get(Key(server, url))
	if err != nil || !found {
		return nil, err
	}
	var e keyringEntry
	if protocol.Unmarshal([]byte(text), &e) != nil {
		return nil, fmt.Errorf("the entry %s of the keyring cannot be read: remove it, and log in again", Key(server, url))
	}
	l := e.login()
	return l, l.is(server, url)
}

func (k keyring) save(l *Login) error {
	text, err := protocol.Marshal(l.toKeyring())
	if err != nil {
		return err
	}
	return k.Set(Key(l.Server, l.URL), string(text))
}

func (k keyring) remove(server, url string) (bool, error) { return k.Remove(Key(server, url)) }
