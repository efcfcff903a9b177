package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// The words of McpServerStatus.AuthStatus.
const (
	StatusUnknown     = "unknown"
	StatusUnsupported = "unsupported"
	StatusNotLoggedIn = "notLoggedIn"
	StatusBearerToken = "bearerToken"
	StatusOAuth       = "oAuth"
)

// discoveryTime bounds the requests for a status.
const discoveryTime = 5 * time.Second

// Mark returns a text that changes with the access token of the login at a server. It is "" without one.
func (l *Logins) Mark(s Server) string {
	login, err := l.load(s)
	if err != nil || login == nil || login.AccessToken == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(login.AccessToken))
	return hex.EncodeToString(sum[:])
}

// Status returns whether there is a usable login at a server, or whether the server offers one.
func (l *Logins) Status(ctx context.Context, s Server) string {
	if HasToken(s.Headers) {
		return StatusBearerToken
	}
	login, err := l.load(s)
	switch {
	case err != nil:
		return StatusUnknown
	case login != nil && isOurs(s, login) && (l.isFresh(s, login, "") || login.RefreshToken != ""):
		return StatusOAuth
	case login != nil:
		return StatusNotLoggedIn
	}
	ctx, cancel := context.WithTimeout(ctx, discoveryTime)
	defer cancel()
	switch _, err := l.discover(ctx, s); {
	case err == nil:
		return StatusNotLoggedIn
	case errors.Is(err, errUnreachable):
		return StatusUnknown
	}
	return StatusUnsupported
}
