package web

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

const (
	// subprotocol is the WebSocket subprotocol of clients.
	subprotocol = "appserver.v1"
	// bearerPrefix begins the second subprotocol. The rest is the token, because a page can set
	// no other header of a WebSocket.
	bearerPrefix = "bearer."
	// maxBodyBytes is the maximum length of the body of a request.
	maxBodyBytes = 4 << 10
)

// sessionParams has a ticket, or the answer of a device to a challenge.
type sessionParams struct {
	Ticket    string `json:"ticket,omitempty"`
	Device    string `json:"device,omitempty"`
	Challenge string `json:"challenge,omitempty"`
	Signature string `json:"signature,omitempty"`
}

type sessionResponse struct {
	Token string `json:"token"`
	// Remember is set if the browser can be remembered at this address.
	Remember bool `json:"remember"`
}

// serveSession opens a session, or checks a token.
func (p *Page) serveSession(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		if p.authorized(w, r) != nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return
	}
	var params sessionParams
	if !readBody(w, r, &params, `{"ticket": "…"} or {"device": "…", "challenge": "…", "signature": "…"}`,
		func() bool { return (params.Ticket == "") != (params.Device == "") }) {
		return
	}
	switch {
	case params.Device != "":
		p.signIn(w, r, params)
	case !p.tickets.redeem(params.Ticket):
		http.Error(w, "the ticket is used, expired or wrong: run appserver web --ticket for a new one", http.StatusForbidden)
	default:
		respond(w, http.StatusOK, sessionResponse{p.sessions.open(""), r.Host == p.guard.own})
	}
}

// readBody decodes the body of a request, or answers the request.
func readBody(w http.ResponseWriter, r *http.Request, params any, form string, valid func() bool) bool {
	// A page of another origin cannot send this type without asking first.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "the body must be application/json", http.StatusUnsupportedMediaType)
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err == nil {
		err = protocol.Unmarshal(body, params)
	}
	if err != nil || !valid() {
		http.Error(w, "the body must be "+form, http.StatusBadRequest)
		return false
	}
	return true
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the browser may be gone
}

// signIn opens a session for a device that has signed a challenge. The signed origin is the address that this server
// listens on, whatever the request says: so no program at another address can pass the signature on.
func (p *Page) signIn(w http.ResponseWriter, r *http.Request, params sessionParams) {
	now := time.Now()
	const ended = "the challenge is used or expired: request another one"
	if _, open := p.challenges.end(params.Challenge); !open {
		http.Error(w, ended, http.StatusForbidden)
		return
	}
	list, err := p.devices.read(now)
	if err != nil {
		http.Error(w, "the remembered browsers cannot be read: run appserver web --devices for the cause",
			http.StatusInternalServerError)
		return
	}
	own := "http://" + p.guard.own
	at := slices.IndexFunc(list, func(x Device) bool { return x.ID == params.Device && x.Origin == own })
	if r.Host != p.guard.own || at < 0 || !verify(list[at].Key, params.Signature, signedText(own, params.Challenge)) {
		http.Error(w, "this server does not know this browser: run appserver web --ticket for a ticket", http.StatusForbidden)
		return
	}
	if !p.challenges.use(params.Challenge) {
		http.Error(w, ended, http.StatusForbidden)
		return
	}
	p.devices.touch(now, list[at])
	respond(w, http.StatusOK, sessionResponse{Token: p.sessions.open(params.Device)})
}

// authorized returns the session of the bearer token, or it answers the request and returns nil.
func (p *Page) authorized(w http.ResponseWriter, r *http.Request) *session {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if ok {
		if s := p.sessions.find(token); s != nil {
			return s
		}
	}
	rejectToken(w)
	return nil
}

// printedQuery is the query of POST /ticket for a ticket that a person uses.
const printedQuery = "printed"

// serveTicket writes a ticket file. The response has nothing of it.
func (p *Page) serveTicket(w http.ResponseWriter, r *http.Request) {
	use := ForProgram
	if r.URL.RawQuery == printedQuery {
		use = ForPerson
	}
	if _, err := p.NewTicket(use); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// admitClient admits a WebSocket with the subprotocol and the token. It puts the session into the context of the
// request.
func (p *Page) admitClient(w http.ResponseWriter, r *http.Request) (selected string, ok bool) {
	var offered []string
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			offered = append(offered, strings.TrimSpace(name))
		}
	}
	var found *session
	for _, name := range offered {
		if token, ok := strings.CutPrefix(name, bearerPrefix); ok && found == nil {
			found = p.sessions.find(token)
		}
	}
	switch {
	case !allow(w, r, http.MethodGet):
	case found == nil:
		rejectToken(w)
	case !slices.Contains(offered, subprotocol):
		http.Error(w, "the subprotocol "+subprotocol+" is missing", http.StatusBadRequest)
	default:
		*r = *r.WithContext(context.WithValue(r.Context(), sessionKey{}, found))
		return subprotocol, true
	}
	return "", false
}

func rejectToken(w http.ResponseWriter) {
	http.Error(w, "the token is missing or wrong: run appserver web --ticket for a ticket", http.StatusUnauthorized)
}
