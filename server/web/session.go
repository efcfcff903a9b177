package web

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"appserver/protocol"
)

const (
	// subprotocol is the WebSocket subprotocol of clients.
	subprotocol = "appserver.v1"
	// bearerPrefix begins the second subprotocol. The rest is the token, because a page can set
	// no other header of a WebSocket.
	bearerPrefix = "bearer."
	// maxSessionBytes is the maximum length of the body of POST /session.
	maxSessionBytes = 4 << 10
)

type sessionParams struct {
	Ticket string `json:"ticket"`
}

type sessionResponse struct {
	Token string `json:"token"`
}

// serveSession exchanges a ticket for the token, or checks a token.
func (p *Page) serveSession(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		p.serveTokenCheck(w, r)
		return
	}
	// A page of another origin cannot send this type without asking first.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "the body must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	var params sessionParams
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSessionBytes))
	if err == nil {
		err = protocol.Unmarshal(body, &params)
	}
	if err != nil || params.Ticket == "" {
		http.Error(w, `the body must be {"ticket": "…"}`, http.StatusBadRequest)
		return
	}
	if !p.tickets.redeem(params.Ticket) {
		http.Error(w, "the ticket is used, expired or wrong: run appserver web for a new one", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(sessionResponse{p.token}) // the browser may be gone
}

func (p *Page) serveTokenCheck(w http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || p.check(token) != nil {
		rejectToken(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// serveTicket writes a ticket file. The response has nothing of it.
func (p *Page) serveTicket(w http.ResponseWriter) {
	if _, err := p.NewTicket(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// admitClient admits a WebSocket with the subprotocol and the token.
func (p *Page) admitClient(w http.ResponseWriter, r *http.Request) (selected string, ok bool) {
	var offered []string
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			offered = append(offered, strings.TrimSpace(name))
		}
	}
	hasToken := slices.ContainsFunc(offered, func(name string) bool {
		token, ok := strings.CutPrefix(name, bearerPrefix)
		return ok && p.check(token) == nil
	})
	switch {
	case !allow(w, r, http.MethodGet):
	case !hasToken:
		rejectToken(w)
	case !slices.Contains(offered, subprotocol):
		http.Error(w, "the subprotocol "+subprotocol+" is missing", http.StatusBadRequest)
	default:
		return subprotocol, true
	}
	return "", false
}

func rejectToken(w http.ResponseWriter) {
	http.Error(w, "the token is missing or wrong: run appserver web for a new ticket", http.StatusUnauthorized)
}
