package apptest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Issuer is the vendor of models on one loopback address: the issuer of tokens for ChatGPT accounts, its backend, and
// its Responses API. Set the options before the first request, or between requests.
type Issuer struct {
	*httptest.Server
	// Lifetime is the lifetime of access tokens. 0 is one hour.
	Lifetime time.Duration
	// Plan and Workspace are claims of tokens.
	Plan, Workspace string
	// Key is an API key that the Responses API accepts.
	Key string
	// RejectAll makes the Responses API reject each token and key.
	RejectAll bool
	// Pending is the number of times that a device code is not entered yet.
	Pending int
	// Failing is the number of times that the endpoint for device codes answers with the status 503.
	Failing int
	// Deny is the error of the authorization endpoint, or "" to grant each request.
	Deny string
	// Limits are headers of responses.
	Limits map[string]string
	// Refusal returns the document by which the token endpoint refuses a request with this secret; nil refuses none.
	Refusal func(secret string) any
	// BeforeRefresh is called before a refresh is answered; nil is not called.
	BeforeRefresh func()

	mu sync.Mutex
	// access and refresh are the valid tokens. used are refresh tokens that were used.
	access, refresh, used map[string]bool
	codes                 map[string]string // challenges by codes
	requests              []IssuerRequest
	secrets               []string
}

// IssuerRequest is a recorded request.
type IssuerRequest struct {
	Path   string
	Header http.Header
	Body   string
	// Status is the status of the response.
	Status int
}

// StartIssuer starts an issuer, and stops it with the test.
func StartIssuer(t testing.TB) *Issuer {
	s := &Issuer{Plan: "plus", Workspace: "acct-1", access: map[string]bool{}, refresh: map[string]bool{},
		used: map[string]bool{}, codes: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/oauth/authorize", s.authorize)
	mux.HandleFunc("/oauth/token", s.token)
	mux.HandleFunc("/oauth/revoke", s.revoke)
	mux.HandleFunc("/api/accounts/deviceauth/usercode", func(w http.ResponseWriter, _ *http.Request) {
		s.send(w, http.StatusOK, Object{"device_auth_id": "device-1", "user_code": "ABCD-EFGH", "interval": "1"})
	})
	mux.HandleFunc("/api/accounts/deviceauth/token", s.device)
	mux.HandleFunc("/backend-api/wham/usage", s.usage)
	mux.HandleFunc("/backend-api/wham/accounts/check", func(w http.ResponseWriter, _ *http.Request) {
		s.send(w, http.StatusOK, Object{"accounts": []Object{{"id": s.Workspace, "plan_type": s.Plan, "structure": "personal",
			"workspace_backend_origin": "https://chatgpt.com", "account_routing_override": "NO_CONSTRAINT"}}})
	})
	mux.HandleFunc("/v1/responses", s.responses)
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		s.send(w, http.StatusOK, Object{"models": []Object{{"slug": "gpt-5", "display_name": "GPT-5", "context_window": 272000}}})
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := readBody(r)
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, r)
		s.mu.Lock()
		s.requests = append(s.requests, IssuerRequest{r.URL.Path, r.Header, body, rec.Code})
		limits := s.Limits
		s.mu.Unlock()
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		for name, value := range limits {
			w.Header().Set(name, value)
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// readBody returns the body of a request, and leaves a copy in it.
func readBody(r *http.Request) (string, error) {
	var text strings.Builder
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Body.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			r.Body = readCloser{strings.NewReader(text.String())}
			return text.String(), nil
		}
	}
}

type readCloser struct{ *strings.Reader }

// Close does nothing.
func (readCloser) Close() error { return nil }

// Host returns the host and the port, for account_hosts.
func (s *Issuer) Host() string { return strings.TrimPrefix(s.URL, "http://") }

// Config returns settings that move everything of the vendor to the issuer, and permit that.
func (s *Issuer) Config() string {
	return fmt.Sprintf("model = \"gpt-5\"\nopenai_base_url = %q\nchatgpt_base_url = %q\naccount_hosts = [%q]\n",
		s.URL+"/v1", s.URL+"/backend-api", s.Host())
}

// Home returns a new home with the settings, and more of them.
func (s *Issuer) Home(t testing.TB, more ...string) string {
	t.Helper()
	home := t.TempDir()
	text := s.Config() + strings.Join(more, "\n") + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
	return home
}

// Env adds the variables that select the issuer to a command.
func (s *Issuer) Env(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(cmd.Env, "CODEX_APP_SERVER_LOGIN_ISSUER="+s.URL, "CODEX_REFRESH_TOKEN_URL_OVERRIDE="+s.URL+"/oauth/token")
	return cmd
}

// StartServer starts a server that uses the issuer.
func (s *Issuer) StartServer(t testing.TB, home string, args ...string) *Client {
	t.Helper()
	args = append([]string{"-c", "compat.turn_completed_floor_ms=0"}, args...)
	c := StartProcess(t, s.Env(ServerCommand(t, home, args...)))
	c.Initialize()
	return c
}

// jwt returns a token with claims.
func (s *Issuer) jwt(kind string, lifetime time.Duration) string {
	part := func(v any) string {
		text, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(Object{"alg": "none"}) + "." + part(Object{"email": "user@example.com", "kind": kind, "jti": rand.Text(),
		"exp": time.Now().Add(lifetime).Unix(), "https://api.openai.com/auth": Object{"chatgpt_plan_type": s.Plan,
			"chatgpt_user_id": "user-1", "chatgpt_account_id": s.Workspace}}) + "." + rand.Text()
}

// Issue returns new tokens: of the identity, for access and for refreshes.
func (s *Issuer) Issue() (id, access, refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lifetime := s.Lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	id, access, refresh = s.jwt("id", time.Hour), s.jwt("access", lifetime), "refresh-"+rand.Text()
	s.access[access], s.refresh[refresh] = true, true
	s.secrets = append(s.secrets, id, access, refresh)
	return id, access, refresh
}

// SignIn writes auth.json with new tokens, and with more members.
func (s *Issuer) SignIn(t testing.TB, home string, more Object) {
	t.Helper()
	id, access, refresh := s.Issue()
	document := Object{"auth_mode": "chatgpt", "OPENAI_API_KEY": nil,
		"last_refresh": time.Now().UTC().Format(time.RFC3339Nano),
		"tokens":       Object{"id_token": id, "access_token": access, "refresh_token": refresh, "account_id": s.Workspace}}
	for name, value := range more {
		document[name] = value
	}
	s.WriteAuth(t, home, document)
}

// WriteAuth writes auth.json.
func (s *Issuer) WriteAuth(t testing.TB, home string, document Object) {
	t.Helper()
	text, err := json.Marshal(document)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, "auth.json"), text, 0o600))
}

// Expire makes the Responses API reject all access tokens so far.
func (s *Issuer) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Revoke makes all tokens so far invalid.
func (s *Issuer) Revoke() {
	s.Expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.refresh)
}

// IsCurrent reports whether a refresh token can be used.
func (s *Issuer) IsCurrent(refresh string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refresh[refresh]
}

// Secrets returns all tokens that were issued, and the key.
func (s *Issuer) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.secrets), s.Key)
}

// Requests returns the requests with a path.
func (s *Issuer) Requests(path string) (list []IssuerRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Path == path {
			list = append(list, r)
		}
	}
	return list
}

// Refreshes returns the number of requests for refreshes.
func (s *Issuer) Refreshes() (n int) {
	for _, r := range s.Requests("/oauth/token") {
		if strings.Contains(r.Body, "refresh_token\":") {
			n++
		}
	}
	return n
}

func (s *Issuer) send(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

// authorize sends the browser back at once.
func (s *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	answer := url.Values{"state": {q.Get("state")}}
	if s.Deny != "" {
		answer.Set("error", s.Deny)
		answer.Set("error_description", "the user <b>refused</b>\x1b[31m")
	} else {
		code := rand.Text()
		s.mu.Lock()
		s.codes[code] = q.Get("code_challenge")
		s.mu.Unlock()
		answer.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (s *Issuer) token(w http.ResponseWriter, r *http.Request) {
	var form struct {
		Grant    string `json:"grant_type"`
		Refresh  string `json:"refresh_token"`
		Code     string `json:"-"`
		Verifier string `json:"-"`
	}
	if strings.Contains(r.Header.Get("Content-Type"), "json") {
		_ = json.NewDecoder(r.Body).Decode(&form)
	} else {
		_ = r.ParseForm()
		form.Grant, form.Code, form.Verifier = r.Form.Get("grant_type"), r.Form.Get("code"), r.Form.Get("code_verifier")
	}
	s.mu.Lock()
	refusal := s.Refusal
	s.mu.Unlock()
	switch {
	case refusal != nil:
		s.send(w, http.StatusBadRequest, refusal(form.Refresh+form.Code))
		return
	case form.Grant == "refresh_token":
		s.renew(w, form.Refresh)
		return
	}
	s.mu.Lock()
	challenge, known := s.codes[form.Code]
	delete(s.codes, form.Code)
	s.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Verifier))
	if form.Grant != "authorization_code" || !known || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
		s.send(w, http.StatusBadRequest, Object{"error": "invalid_grant", "error_description": "<script>\x1b[31mno longer valid"})
		return
	}
	s.sendTokens(w)
}

func (s *Issuer) sendTokens(w http.ResponseWriter) {
	id, access, refresh := s.Issue()
	s.send(w, http.StatusOK, Object{"id_token": id, "access_token": access, "refresh_token": refresh})
}

// renew answers a refresh. Each refresh token is valid once.
func (s *Issuer) renew(w http.ResponseWriter, refresh string) {
	if s.BeforeRefresh != nil {
		s.BeforeRefresh()
	}
	s.mu.Lock()
	valid, used := s.refresh[refresh], s.used[refresh]
	delete(s.refresh, refresh)
	s.used[refresh] = true
	s.mu.Unlock()
	switch {
	case valid:
		s.sendTokens(w)
	case used:
		s.send(w, http.StatusUnauthorized, Object{"error": Object{"code": "refresh_token_reused", "message": "used " + refresh}})
	default:
		s.send(w, http.StatusUnauthorized, Object{"error": Object{"code": "refresh_token_invalidated", "message": "revoked"}})
	}
}

func (s *Issuer) revoke(w http.ResponseWriter, r *http.Request) {
	var form struct {
		Token string `json:"token"`
	}
	_ = json.NewDecoder(r.Body).Decode(&form)
	s.mu.Lock()
	delete(s.refresh, form.Token)
	s.mu.Unlock()
	s.send(w, http.StatusOK, Object{})
}

func (s *Issuer) device(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	failing, pending := s.Failing > 0, s.Pending > 0
	if failing {
		s.Failing--
	} else {
		s.Pending--
	}
	s.mu.Unlock()
	if failing {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	if pending {
		s.send(w, http.StatusForbidden, Object{"error": "authorization_pending"})
		return
	}
	code, verifier := rand.Text(), rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	s.mu.Lock()
	s.codes[code] = base64.RawURLEncoding.EncodeToString(sum[:])
	s.mu.Unlock()
	s.send(w, http.StatusOK, Object{"authorization_code": code, "code_challenge": "x", "code_verifier": verifier})
}

// accepts reports whether a request has a valid token or key.
func (s *Issuer) accepts(r *http.Request) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.RejectAll && token != "" && (s.access[token] || token == s.Key)
}

// Refuse sets Refusal.
func (s *Issuer) Refuse(refusal func(secret string) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Refusal = refusal
}

// Reject sets RejectAll.
func (s *Issuer) Reject(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.RejectAll = all
}

// responses answers model requests, and echoes a token that it rejects.
func (s *Issuer) responses(w http.ResponseWriter, r *http.Request) {
	if !s.accepts(r) {
		s.send(w, http.StatusUnauthorized, Object{"error": Object{"code": "token_expired",
			"message": "not valid: " + r.Header.Get("Authorization")}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(EventStream(ItemDone(HelloMessage))))
}

func (s *Issuer) usage(w http.ResponseWriter, r *http.Request) {
	if !s.accepts(r) {
		s.send(w, http.StatusUnauthorized, Object{"error": "unauthorized"})
		return
	}
	window := Object{"used_percent": 42, "limit_window_seconds": 18000, "reset_at": 1795856761}
	s.send(w, http.StatusOK, Object{"plan_type": s.Plan, "rate_limit": Object{"allowed": true, "primary_window": window},
		"credits": Object{"has_credits": true, "unlimited": false, "balance": "5"},
		"additional_rate_limits": []Object{{"limit_name": "Other", "metered_feature": "other", "rate_limit": Object{
			"primary_window": window}}}})
}
