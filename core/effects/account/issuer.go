package account

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

const (
	defaultIssuer  = "https://auth.openai.com"
	defaultClient  = "app_EMoamEEZ73f0CkXaXp7hrann"
	defaultBackend = "https://chatgpt.com/backend-api"

	// requestTime bounds a request to the issuer or the backend. maxBody bounds a response, in bytes.
	requestTime = 20 * time.Second
	maxBody     = 1 << 20
)

// Variables of the environment that replace addresses of the issuer, as in the reference implementation.
const (
	issuerVariable  = "CODEX_APP_SERVER_LOGIN_ISSUER"
	clientVariable  = "CODEX_APP_SERVER_LOGIN_CLIENT_ID"
	refreshVariable = "CODEX_REFRESH_TOKEN_URL_OVERRIDE"
	revokeVariable  = "CODEX_REVOKE_TOKEN_URL_OVERRIDE"
)

// WithIssuer returns an environment with another issuer and client, unless they are "".
func WithIssuer(getenv func(string) string, issuer, client string) func(string) string {
	return func(name string) string {
		switch {
		case name == issuerVariable && issuer != "":
			return issuer
		case name == clientVariable && client != "":
			return client
		}
		return getenv(name)
	}
}

// Issuer issues tokens of ChatGPT accounts to a client.
type Issuer struct{ URL, ClientID string }

// Issuer returns the issuer for new logins.
func (a *Account) Issuer() Issuer {
	return Issuer{strings.TrimRight(cmp.Or(a.Getenv(issuerVariable), defaultIssuer), "/"),
		cmp.Or(a.Getenv(clientVariable), defaultClient)}
}

// issuerOf returns the issuer of tokens.
func issuerOf(t Tokens) Issuer {
	return Issuer{strings.TrimRight(cmp.Or(t.Issuer, defaultIssuer), "/"), cmp.Or(t.ClientID, defaultClient)}
}

// refreshURL returns the address for refreshes of tokens.
func (a *Account) refreshURL(t Tokens) string {
	return cmp.Or(a.Getenv(refreshVariable), issuerOf(t).URL+"/oauth/token")
}

// revokeURL returns the address for revocations of tokens.
func (a *Account) revokeURL(t Tokens) string {
	if address := a.Getenv(revokeVariable); address != "" {
		return address
	}
	if u, err := url.Parse(a.Getenv(refreshVariable)); err == nil && u.Host != "" {
		u.Path, u.RawQuery = "/oauth/revoke", ""
		return u.String()
	}
	return issuerOf(t).URL + "/oauth/revoke"
}

// request is a request to the issuer or the backend.
type request struct {
	method, address string
	// form or document is the body, or both are nil.
	form     url.Values
	document map[string]string
	headers  map[string]string
	time     time.Duration
}

// answer is a response. Body is its beginning. Sent are the values of the request, which its texts may repeat.
type answer struct {
	status int
	body   []byte
	sent   []string
}

// send sends a request to a host that may get credentials. The error has no address with its query, and no body.
func (a *Account) send(ctx context.Context, r request) (*answer, error) {
	u, err := a.permit(r.address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, max(r.time, requestTime))
	defer cancel()
	req, err := r.encode(ctx, u)
	if err != nil {
		return nil, err
	}
	if a.Sign != nil {
		signed := map[string]string{}
		a.Sign(signed)
		for name, value := range signed {
			req.Header.Set(name, value)
		}
	}
	response, err := a.HTTP.RoundTrip(req) // follows no redirects
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %w", shown(u.Host), err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return nil, fmt.Errorf("%s answers with a redirect, which is not followed: correct the address in the configuration",
			shown(u.Host))
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("the response of %s cannot be read: %w", shown(u.Host), err)
	}
	return &answer{response.StatusCode, body, r.values()}, nil
}

// minValue is the length in bytes from which a value of a request is not repeated in an error.
const minValue = 8

// publicNames are the members of requests that are no secrets.
var publicNames = []string{"client_id", "grant_type", "redirect_uri", "refresh_reason", "token_type_hint"}

// values returns the values of the request that can be secrets. Longer ones are first, as one can be a part of another.
func (r *request) values() (list []string) {
	for name, value := range r.document {
		if !slices.Contains(publicNames, name) {
			list = append(list, value)
		}
	}
	for name, values := range r.form {
		if !slices.Contains(publicNames, name) {
			list = append(list, values...)
		}
	}
	for _, value := range r.headers {
		list = append(list, strings.TrimPrefix(value, "Bearer "))
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return slices.DeleteFunc(list, func(value string) bool { return len(value) < minValue })
}

// redacted returns a text of the response without the values of the request.
func (w *answer) redacted(text string) string {
	for _, value := range w.sent {
		text = strings.ReplaceAll(text, value, "[redacted]")
	}
	return text
}

func (r *request) encode(ctx context.Context, u *url.URL) (*http.Request, error) {
	var body []byte
	kind := ""
	switch {
	case r.form != nil:
		body, kind = []byte(r.form.Encode()), "application/x-www-form-urlencoded"
	case r.document != nil:
		text, err := protocol.Marshal(r.document)
		if err != nil {
			return nil, err
		}
		body, kind = text, "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errAddress()
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range r.headers {
		req.Header.Set(name, value)
	}
	return req, nil
}

// code returns the code of an error, in lower case, or "".
func (w *answer) code() string {
	var d struct {
		Error json.RawMessage `json:"error"`
		Code  loose[string]   `json:"code"`
	}
	if protocol.Unmarshal(w.body, &d) != nil {
		return ""
	}
	var inner struct {
		Code loose[string] `json:"code"`
	}
	var word string
	if protocol.Unmarshal(d.Error, &word) != nil && protocol.Unmarshal(d.Error, &inner) == nil {
		word = inner.Code.value
	}
	return strings.ToLower(w.redacted(cmp.Or(word, d.Code.value)))
}

// refusal describes a response that is no success. It has the words of the issuer, without control characters and
// without the values of the request.
func (w *answer) refusal(what string) error {
	var d struct {
		Error       json.RawMessage `json:"error"`
		Description loose[string]   `json:"error_description"`
	}
	var inner struct {
		Message loose[string] `json:"message"`
	}
	if protocol.Unmarshal(w.body, &d) == nil {
		_ = protocol.Unmarshal(d.Error, &inner) // it may be a word
	}
	reason := shown(cmp.Or(w.redacted(d.Description.value), w.redacted(inner.Message.value), w.code()))
	if reason == "" {
		return fmt.Errorf("%s was refused with the status %d", what, w.status)
	}
	return fmt.Errorf("%s was refused with the status %d: %s", what, w.status, reason)
}

// issued are the tokens in a response. Members are "" if they do not change.
type issued struct {
	ID      string `json:"id_token"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// errTokens means that a response has no usable tokens.
var errTokens = errors.New("the response of the issuer has no usable tokens")

// tokens returns the tokens in a response of a token endpoint.
func (w *answer) tokens(what string) (t issued, err error) {
	if w.status != http.StatusOK {
		return t, w.refusal(what)
	}
	if protocol.Unmarshal(w.body, &t) != nil || !isHeaderText(t.Access) || len(t.Refresh) > maxToken {
		return t, errTokens
	}
	return t, nil
}

// maxToken bounds a refresh token, in bytes.
const maxToken = 64 << 10

// exchange returns the login for a code of the issuer.
func (a *Account) exchange(ctx context.Context, i Issuer, code, verifier, redirect string) (*Login, error) {
	w, err := a.send(ctx, request{method: http.MethodPost, address: i.URL + "/oauth/token", form: url.Values{
		"grant_type": {"authorization_code"}, "client_id": {i.ClientID}, "code": {code}, "redirect_uri": {redirect},
		"code_verifier": {verifier}}})
	if err != nil {
		return nil, err
	}
	t, err := w.tokens("the exchange of the code")
	if err != nil {
		return nil, err
	}
	if t.ID == "" || t.Access == "" || t.Refresh == "" {
		return nil, errTokens
	}
	l := &Login{Mode: ChatGPT, Refreshed: a.Now(), Tokens: Tokens{ID: t.ID, Access: t.Access, Refresh: t.Refresh,
		AccountID: readClaims(t.ID).account, Issuer: i.URL, ClientID: i.ClientID, Owner: newOwner()}}
	if !isHeaderText(l.Tokens.AccountID) {
		return nil, errTokens
	}
	return l, a.permitted(l)
}

// revokeTime bounds a revocation.
const revokeTime = 10 * time.Second

// revoke revokes the tokens of a login as far as the issuer is reached.
func (a *Account) revoke(ctx context.Context, l *Login) {
	if l.Mode != ChatGPT {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	d := map[string]string{"token": l.Tokens.Refresh, "token_type_hint": "refresh_token",
		"client_id": issuerOf(l.Tokens).ClientID}
	if l.Tokens.Refresh == "" {
		d = map[string]string{"token": l.Tokens.Access, "token_type_hint": "access_token"}
	}
	_, _ = a.send(ctx, request{method: http.MethodPost, address: a.revokeURL(l.Tokens), document: d})
}
