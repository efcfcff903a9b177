package account

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"appserver/platform/vault"
	"appserver/protocol"
)

// The modes of logins, as auth.json and the protocol name them.
const (
	APIKey  = "apikey"
	ChatGPT = "chatgpt"
	// ClientTokens are tokens of a ChatGPT account that a client gives. They are in memory only.
	ClientTokens = "chatgptAuthTokens"
)

// Login is a login of the user. Nothing changes one.
type Login struct {
	// Mode is one of the constants, or a mode that this program cannot use.
	Mode string
	// APIKey is the key of the mode APIKey.
	APIKey string
	// Tokens are those of a ChatGPT account.
	Tokens Tokens
	// Refreshed is the time of the last refresh, or zero if it is unknown.
	Refreshed time.Time

	document members
	place    vault.Place
	// plan overrides the plan of the tokens, unless it is "".
	plan string
}

// Tokens are the tokens of a ChatGPT account.
type Tokens struct {
	ID, Access, Refresh string
	// AccountID is the workspace, or "".
	AccountID string
	// Issuer and ClientID name what issued the tokens, or are "" for the vendor's issuer and the usual client.
	Issuer, ClientID string
	// Owner identifies the login, or is "".
	Owner string
}

// provenance names what issued tokens.
type provenance struct {
	Issuer   string `json:"issuer"`
	ClientID string `json:"client_id"`
}

// members are the members of an object, as they were read.
type members map[string]json.RawMessage

// Members of auth.json.
const (
	memberMode      = "auth_mode"
	memberKey       = "OPENAI_API_KEY"
	memberTokens    = "tokens"
	memberRefreshed = "last_refresh"
)

// memberOrder has the known members, in the order in which they are written.
var memberOrder = []string{memberMode, memberKey, memberTokens, memberRefreshed,
	"id_token", "access_token", "refresh_token", "oauth_provenance", "login_owner_id", "account_id"}

// otherLogins are members with logins that this program cannot use. A new login replaces them.
var otherLogins = []string{"agent_identity", "personal_access_token", "bedrock_api_key", "bedrock_access_keys"}

// errForm is the reason if a document has not the form of auth.json. It has no part of the document.
var errForm = errors.New("it is not a JSON object with a login")

// parse reads the form of auth.json.
func parse(text []byte) (*Login, error) {
	var d struct {
		Mode   *string         `json:"auth_mode"`
		Key    *string         `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
		At     *string         `json:"last_refresh"`
	}
	l := &Login{}
	if protocol.Unmarshal(text, &l.document) != nil || l.document == nil || protocol.Unmarshal(text, &d) != nil {
		return nil, errForm
	}
	if d.Key != nil {
		l.APIKey = *d.Key
	}
	if err := l.parseTokens(d.Tokens); err != nil {
		return nil, err
	}
	if d.At != nil {
		l.Refreshed, _ = time.Parse(time.RFC3339, *d.At) // another form counts as unknown
	}
	switch {
	case d.Mode != nil:
		l.Mode = *d.Mode
	case d.Key != nil:
		l.Mode = APIKey
	default:
		l.Mode = ChatGPT
	}
	return l, nil
}

func (l *Login) parseTokens(text json.RawMessage) error {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	var t struct {
		ID         string      `json:"id_token"`
		Access     string      `json:"access_token"`
		Refresh    string      `json:"refresh_token"`
		AccountID  *string     `json:"account_id"`
		Owner      *string     `json:"login_owner_id"`
		Provenance *provenance `json:"oauth_provenance"`
	}
	if protocol.Unmarshal(text, &t) != nil {
		return errForm
	}
	l.Tokens = Tokens{ID: t.ID, Access: t.Access, Refresh: t.Refresh}
	if t.AccountID != nil {
		l.Tokens.AccountID = *t.AccountID
	}
	if t.Owner != nil {
		l.Tokens.Owner = *t.Owner
	}
	if t.Provenance != nil {
		l.Tokens.Issuer, l.Tokens.ClientID = t.Provenance.Issuer, t.Provenance.ClientID
	}
	return nil
}

// encode returns the form of auth.json, with the members of the document that this program does not know.
func (l *Login) encode() ([]byte, error) {
	d := members{}
	for name, value := range l.document {
		d[name] = value
	}
	for _, set := range []struct {
		name  string
		value any
	}{{memberMode, l.Mode}, {memberKey, protocol.OrNil(l.APIKey)}} {
		if err := d.set(set.name, set.value); err != nil {
			return nil, err
		}
	}
	delete(d, memberTokens)
	delete(d, memberRefreshed)
	if l.Mode == ChatGPT {
		tokens, err := l.tokens()
		if err != nil {
			return nil, err
		}
		d[memberTokens] = tokens
		if err := d.set(memberRefreshed, l.Refreshed.UTC().Format(time.RFC3339Nano)); err != nil {
			return nil, err
		}
	}
	return d.encode()
}

// tokens returns the member with the tokens, with the members that this program does not know.
func (l *Login) tokens() (json.RawMessage, error) {
	t := members{}
	if text := l.document[memberTokens]; string(text) != "null" {
		_ = protocol.Unmarshal(text, &t) // parse has read it
	}
	values := map[string]any{"id_token": l.Tokens.ID, "access_token": l.Tokens.Access,
		"refresh_token": l.Tokens.Refresh, "account_id": protocol.OrNil(l.Tokens.AccountID)}
	if l.Tokens.Owner != "" {
		values["login_owner_id"] = l.Tokens.Owner
	}
	if l.Tokens.Issuer != "" && t["oauth_provenance"] == nil {
		values["oauth_provenance"] = provenance{l.Tokens.Issuer, l.Tokens.ClientID}
	}
	for name, value := range values {
		if err := t.set(name, value); err != nil {
			return nil, err
		}
	}
	return t.encode()
}

func (m members) set(name string, value any) (err error) {
	m[name], err = protocol.Marshal(value)
	return err
}

// encode writes the known members first, with indentation.
func (m members) encode() ([]byte, error) {
	names := make([]string, 0, len(m))
	for _, name := range memberOrder {
		if m[name] != nil {
			names = append(names, name)
		}
	}
	var others []string
	for name := range m {
		if !slices.Contains(memberOrder, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	var text bytes.Buffer
	text.WriteByte('{')
	for i, name := range append(names, others...) {
		if i > 0 {
			text.WriteByte(',')
		}
		key, err := protocol.Marshal(name)
		if err != nil {
			return nil, err
		}
		text.Write(key)
		text.WriteByte(':')
		text.Write(m[name])
	}
	text.WriteByte('}')
	var pretty bytes.Buffer
	err := json.Indent(&pretty, text.Bytes(), "", "  ")
	return pretty.Bytes(), err
}

// replacing returns the login in place of another one: it keeps the members of the other document that are no login.
func (l *Login) replacing(other *Login) *Login {
	next := *l
	next.document = members{}
	if other != nil {
		for name, value := range other.document {
			if name != memberTokens && !slices.Contains(otherLogins, name) {
				next.document[name] = value
			}
		}
	}
	return &next
}

// isSame reports whether two logins have the same credentials.
func (l *Login) isSame(other *Login) bool {
	return other != nil && l.Mode == other.Mode && l.APIKey == other.APIKey && l.Tokens == other.Tokens
}

// Secrets returns the keys and tokens of the login.
func (l *Login) Secrets() []string {
	return []string{l.APIKey, l.Tokens.Access, l.Tokens.Refresh, l.Tokens.ID}
}

// Secret returns the key or the access token, or "".
func (l *Login) Secret() string {
	if l.Mode == APIKey {
		return l.APIKey
	}
	return l.Tokens.Access
}
