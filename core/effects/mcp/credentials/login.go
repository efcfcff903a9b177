package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"appserver/protocol"
)

// Login is a login at an MCP server.
type Login struct {
	// Server and URL are the name and the address of the MCP server.
	Server, URL string
	// Issuer is the authorization server that issued the tokens, or "" if the entry does not have it.
	Issuer string
	// ClientID is the client that the tokens were issued to. ClientSecret is set if its registration
	// returned one.
	ClientID, ClientSecret string
	// AccessToken is empty if the authorization server has rejected the refresh token.
	AccessToken, RefreshToken string
	Scopes                    []string
	// Expires is the end of the access token, or zero if it is unknown.
	Expires time.Time

	// place is where the login was read.
	place place
}

// place is a place of logins.
type place int

const (
	nowhere place = iota
	inFile
	inKeyring
)

// Key returns the name of the entry of a login.
func Key(server, url string) string {
	// The hash is over this document, with its members in this order.
	document := struct {
		Type    string   `json:"type"`
		URL     string   `json:"url"`
		Headers struct{} `json:"headers"`
	}{Type: "http", URL: url}
	text, _ := protocol.Marshal(document) // texts can always be encoded
	sum := sha256.Sum256(text)
	return server + "|" + hex.EncodeToString(sum[:])[:16]
}

// fileEntry is a login in the file. ClientSecret is only here; the reference implementation ignores it.
type fileEntry struct {
	Server       string   `json:"server_name"`
	URL          string   `json:"server_url"`
	Issuer       string   `json:"issuer,omitempty"`
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret,omitempty"`
	AccessToken  string   `json:"access_token"`
	ExpiresAt    *uint64  `json:"expires_at"`
	RefreshToken *string  `json:"refresh_token"`
	Scopes       []string `json:"scopes"`
}

func (l *Login) toFile() fileEntry {
	return fileEntry{l.Server, l.URL, l.Issuer, l.ClientID, l.ClientSecret, l.AccessToken, millis(l.Expires),
		protocol.OrNil(l.RefreshToken), append([]string{}, l.Scopes...)}
}

func (e *fileEntry) login() *Login {
	l := &Login{Server: e.Server, URL: e.URL, Issuer: e.Issuer, ClientID: e.ClientID, ClientSecret: e.ClientSecret,
		AccessToken: e.AccessToken, Scopes: withoutEmpty(e.Scopes), Expires: fromMillis(e.ExpiresAt), place: inFile}
	if e.RefreshToken != nil {
		l.RefreshToken = *e.RefreshToken
	}
	return l
}

// keyringEntry is a login in the keyring.
type keyringEntry struct {
	Server       string        `json:"server_name"`
	URL          string        `json:"url"`
	Issuer       string        `json:"issuer,omitempty"`
	ClientID     string        `json:"client_id"`
	ClientSecret string        `json:"client_secret,omitempty"`
	Token        tokenResponse `json:"token_response"`
	ExpiresAt    *uint64       `json:"expires_at"`
}

// tokenResponse has the members that the token endpoint sent.
type tokenResponse struct {
	AccessToken  string          `json:"access_token"`
	TokenType    string          `json:"token_type"`
	ExpiresIn    json.RawMessage `json:"expires_in,omitempty"`
	RefreshToken string          `json:"refresh_token,omitempty"`
	Scope        string          `json:"scope,omitempty"`
}

func (l *Login) toKeyring() keyringEntry {
	return keyringEntry{l.Server, l.URL, l.Issuer, l.ClientID, l.ClientSecret,
		tokenResponse{AccessToken: l.AccessToken, TokenType: "bearer", RefreshToken: l.RefreshToken,
			Scope: strings.Join(l.Scopes, " ")}, millis(l.Expires)}
}

func (e *keyringEntry) login() *Login {
	return &Login{Server: e.Server, URL: e.URL, Issuer: e.Issuer, ClientID: e.ClientID, ClientSecret: e.ClientSecret,
		AccessToken: e.Token.AccessToken, RefreshToken: e.Token.RefreshToken, Scopes: strings.Fields(e.Token.Scope),
		Expires: fromMillis(e.ExpiresAt), place: inKeyring}
}

// is rejects an entry of another server. The error has no part of the entry.
func (l *Login) is(server, url string) error {
	if l.Server != server || l.URL != url {
		return fmt.Errorf("the entry %s is of another server: remove it by mcp logout, and log in again", Key(server, url))
	}
	return nil
}

func withoutEmpty(scopes []string) (out []string) {
	for _, s := range scopes {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// millis returns a time in milliseconds since 1970, or nil for the zero time.
func millis(t time.Time) *uint64 {
	if t.IsZero() || t.UnixMilli() < 0 {
		return nil
	}
	return new(uint64(t.UnixMilli()))
}

// fromMillis returns the inverse of millis. Times after maxYear count as unknown.
func fromMillis(ms *uint64) time.Time {
	if ms == nil || *ms > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(int64(*ms))
}

// maxMillis is the beginning of the year 10000.
const maxMillis = 253_402_300_800_000
