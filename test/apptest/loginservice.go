package apptest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// LoginService is an MCP server over HTTP that requires an access token, beside its authorization server. Both
// are on one loopback address. Set the options before the first request, or between requests.
type LoginService struct {
	*httptest.Server
	// Lifetime is the lifetime of access tokens. 0 is one hour. NoExpiry hides it from the client.
	Lifetime time.Duration
	NoExpiry bool
	// Deny is the error of the authorization endpoint, or "" to grant each request.
	Deny string
	// Issuer is the iss parameter of authorization responses. If it is empty, they have none.
	Issuer string
	// Secrets issues a secret to each client that registers.
	Secrets bool
	// Scope is the scope that requests to the MCP server need, or "" for none.
	Scope string
	// Change changes documents and responses of the authorization server before they are sent.
	Change func(path string, document map[string]any)
	// Handle handles requests in place of the service, if it returns true.
	Handle func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	clients map[string]*loginClient
	codes   map[string]*loginGrant
	access  map[string]*loginToken
	refresh map[string]*loginToken
	counts  map[string]int
	forms   []map[string]string
}

type loginClient struct {
	secret    string
	redirects []string
}

type loginGrant struct {
	client, challenge, redirect, resource string
	scopes                                []string
	family                                *loginFamily
	used                                  bool
}

// loginFamily is all tokens of one login. If one of its refresh tokens or its code is used twice, all are revoked.
type loginFamily struct{ revoked bool }

type loginToken struct {
	grant   *loginGrant
	expires time.Time
	used    bool
}

// StartLoginService starts a service, and stops it with the test.
func StartLoginService(t testing.TB) *LoginService {
	s := &LoginService{clients: map[string]*loginClient{}, codes: map[string]*loginGrant{},
		access: map[string]*loginToken{}, refresh: map[string]*loginToken{}, counts: map[string]int{}}
	server := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "look", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "seen"}}}, nil, nil
		})
	guarded := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.guard(guarded))
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", s.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("/register", s.register)
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Count(r.URL.Path, 1)
		if s.Handle == nil || !s.Handle(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Address returns the URL of the MCP server.
func (s *LoginService) Address() string { return s.URL + "/mcp" }

// Count adds n to a counter and returns it. Requests are counted by their paths, grants by their types.
func (s *LoginService) Count(name string, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[name] += n
	return s.counts[name]
}

// Forms returns the requests to the token endpoint.
func (s *LoginService) Forms() []map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.forms)
}

// Expire lets all access tokens expire, and leaves refresh tokens valid.
func (s *LoginService) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Revoke revokes all tokens.
func (s *LoginService) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

// AddClient registers a client, as an administrator would.
func (s *LoginService) AddClient(id, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = &loginClient{secret: secret}
}

func (s *LoginService) guard(next http.Handler) http.Handler {
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		t := s.access[token]
		if t == nil || t.grant.family.revoked {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Scopes: t.grant.scopes, Expiration: t.expires}, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := &auth.RequireBearerTokenOptions{ResourceMetadataURL: s.URL + "/.well-known/oauth-protected-resource/mcp"}
		if s.Scope != "" {
			o.Scopes = []string{s.Scope}
		}
		auth.RequireBearerToken(verify, o)(next).ServeHTTP(w, r)
	})
}

func (s *LoginService) send(w http.ResponseWriter, r *http.Request, status int, document map[string]any) {
	if s.Change != nil {
		s.Change(r.URL.Path, document)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

func (s *LoginService) resource(w http.ResponseWriter, r *http.Request) {
	s.send(w, r, http.StatusOK, map[string]any{"resource": s.Address(), "authorization_servers": []string{s.URL}})
}

func (s *LoginService) metadata(w http.ResponseWriter, r *http.Request) {
	s.send(w, r, http.StatusOK, map[string]any{"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize",
		"token_endpoint": s.URL + "/token", "registration_endpoint": s.URL + "/register",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"authorization_response_iss_parameter_supported": s.Issuer != ""})
}

func (s *LoginService) register(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if json.NewDecoder(r.Body).Decode(&request) != nil || len(request.Redirects) == 0 {
		s.send(w, r, http.StatusBadRequest, map[string]any{"error": "invalid_redirect_uri"})
		return
	}
	id, client := rand.Text(), &loginClient{redirects: request.Redirects}
	answer := map[string]any{"client_id": id, "redirect_uris": request.Redirects, "token_endpoint_auth_method": "none"}
	if s.Secrets {
		client.secret = rand.Text()
		answer["client_secret"], answer["token_endpoint_auth_method"] = client.secret, "client_secret_post"
	}
	s.mu.Lock()
	s.clients[id] = client
	s.mu.Unlock()
	s.send(w, r, http.StatusCreated, answer)
}

// authorize serves the page on which the user agrees.
func (s *LoginService) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	client := s.clients[q.Get("client_id")]
	s.mu.Unlock()
	redirect := q.Get("redirect_uri")
	if client == nil || client.redirects != nil && !slices.Contains(client.redirects, redirect) {
		http.Error(w, "unknown client or redirect_uri", http.StatusBadRequest)
		return
	}
	to, err := http.NewRequest(http.MethodGet, redirect, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := to.URL.Query()
	answer.Set("state", q.Get("state"))
	if s.Issuer != "" {
		answer.Set("iss", s.Issuer)
	}
	if s.Deny != "" {
		answer.Set("error", s.Deny)
		answer.Set("error_description", "the user <b>refused</b>\x1b[31m")
	} else {
		answer.Set("code", s.grant(q.Get("client_id"), q.Get("code_challenge"), redirect, q.Get("resource"), q.Get("scope")))
	}
	to.URL.RawQuery = answer.Encode()
	http.Redirect(w, r, to.URL.String(), http.StatusFound)
}

func (s *LoginService) grant(client, challenge, redirect, resource, scope string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := rand.Text()
	s.codes[code] = &loginGrant{client: client, challenge: challenge, redirect: redirect, resource: resource,
		scopes: strings.Fields(scope), family: &loginFamily{}}
	return code
}

func (s *LoginService) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	form := map[string]string{}
	for name := range r.PostForm {
		form[name] = r.PostForm.Get(name)
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = form["client_id"], form["client_secret"]
	}
	s.Count(form["grant_type"], 1)
	s.mu.Lock()
	s.forms = append(s.forms, form)
	client := s.clients[id]
	s.mu.Unlock()
	if client == nil || client.secret != secret {
		s.send(w, r, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if grant := s.granted(form, id); grant != nil {
		s.send(w, r, http.StatusOK, s.issue(grant))
		return
	}
	s.send(w, r, http.StatusBadRequest, map[string]any{"error": "invalid_grant",
		"error_description": "<script>alert(1)</script>\x1b[31mno longer valid"})
}

// granted returns the grant of a code or a refresh token, or nil. It revokes the family of one that is used twice.
func (s *LoginService) granted(form map[string]string, client string) *loginGrant {
	s.mu.Lock()
	defer s.mu.Unlock()
	var g *loginGrant
	used := false
	if form["grant_type"] == "refresh_token" {
		t := s.refresh[form["refresh_token"]]
		if t == nil {
			return nil
		}
		g, used, t.used = t.grant, t.used, true
	} else {
		if g = s.codes[form["code"]]; g == nil {
			return nil
		}
		sum := sha256.Sum256([]byte(form["code_verifier"]))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge || form["redirect_uri"] != g.redirect {
			s.counts["mismatch"]++
			return nil
		}
		used, g.used = g.used, true
	}
	if used {
		s.counts["reuse"]++
		g.family.revoked = true
	}
	if g.client != client || g.resource != form["resource"] || g.family.revoked {
		return nil
	}
	return g
}

func (s *LoginService) issue(g *loginGrant) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	lifetime := s.Lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	s.access[access] = &loginToken{grant: g, expires: time.Now().Add(lifetime)}
	s.refresh[refresh] = &loginToken{grant: g}
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh,
		"scope": strings.Join(g.scopes, " ")}
	if !s.NoExpiry {
		answer["expires_in"] = int(lifetime.Seconds())
	}
	return answer
}
