package account

import (
	"appserver/platform/keyring"
	"appserver/platform/vault"
)

// refreshLock is the lock of this program for refreshes.
const refreshLock = "appserver-auth-refresh.lock"

// Store is the place of the login of a home: auth.json, an entry of the keyring, or the memory.
type Store = vault.Store[Login]

// NewStore returns the store of a home. Mode is one of the constants of package vault.
func NewStore(home, mode string) *Store {
	return vault.New(vault.Options[Login]{
		Home: home, File: "auth.json", Mode: mode,
		// The locks are those of the reference implementation for changes of the file, in its order.
		Locks: []string{"auth.lock", "auth.json.lock"},
		Ring:  keyring.New("Codex Auth", "cli_auth_credentials_store"), Entry: vault.Entry(home),
		Form: vault.Form[Login]{Parse: parse, Encode: (*Login).encode,
			Place: func(l *Login) *vault.Place { return &l.place }},
		Subject: "the login", Advice: "sign in again",
	})
}
