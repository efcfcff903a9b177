package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"appserver/platform/httpclient"
	"appserver/protocol"
)

// Ticket is a ticket file for a running page.
type Ticket struct {
	// URL is the address of the page.
	URL string
	// File is the path of the file for a browser.
	File string
}

// Redeem exchanges the ticket for a session. It returns the URL of the WebSocket of the server, and the
// subprotocols that a client offers there. Other sessions stay valid.
func (t Ticket) Redeem(ctx context.Context) (url string, subprotocols []string, err error) {
	document, err := os.ReadFile(t.File)
	if err != nil {
		return "", nil, err
	}
	_, rest, _ := strings.Cut(string(document), "#ticket=")
	ticket, _, found := strings.Cut(rest, `"`)
	if !found {
		return "", nil, fmt.Errorf("%s has no ticket", t.File)
	}
	body, err := protocol.Marshal(sessionParams{ticket})
	if err != nil {
		return "", nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL+"/session", bytes.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := httpclient.Direct(nil, nil).RoundTrip(request)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxSessionBytes))
	if err != nil {
		return "", nil, err
	}
	var session sessionResponse
	if response.StatusCode != http.StatusOK || protocol.Unmarshal(text, &session) != nil {
		return "", nil, fmt.Errorf("%s rejects the ticket: %s", t.URL, response.Status)
	}
	return "ws" + strings.TrimPrefix(t.URL, "http") + "/ws", []string{subprotocol, bearerPrefix + session.Token}, nil
}
