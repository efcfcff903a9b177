package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"appserver/platform/disk"
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

// read returns the ticket in the file.
func (t Ticket) read() (string, error) {
	document, err := os.ReadFile(t.File)
	if disk.IsNotExist(err) {
		return "", fmt.Errorf("another command or browser has taken the ticket of %s: run appserver web --ticket again", t.URL)
	}
	if err != nil {
		return "", fmt.Errorf("the ticket of %s cannot be read: %w", t.URL, err)
	}
	ticket, found := ticketIn(document)
	if !found {
		return "", fmt.Errorf("%s has no ticket", t.File)
	}
	return ticket, nil
}

// Address returns the address that opens the page with the ticket. It is a secret.
func (t Ticket) Address() (string, error) {
	ticket, err := t.read()
	return t.URL + ticketMark + ticket, err
}

// TakeAddress returns the address, and removes the file, which nobody opens then.
func (t Ticket) TakeAddress() (string, error) {
	address, err := t.Address()
	if err == nil {
		err = os.Remove(t.File)
	}
	return address, err
}

// Redeem exchanges the ticket for a session. It returns the URL of the WebSocket of the server, and the
// subprotocols that a client offers there. Other sessions stay valid.
func (t Ticket) Redeem(ctx context.Context) (url string, subprotocols []string, err error) {
	ticket, err := t.read()
	if err != nil {
		return "", nil, err
	}
	body, err := protocol.Marshal(sessionParams{Ticket: ticket})
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
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBodyBytes))
	if err != nil {
		return "", nil, err
	}
	var session sessionResponse
	if response.StatusCode != http.StatusOK || protocol.Unmarshal(text, &session) != nil {
		return "", nil, fmt.Errorf("%s rejects the ticket: %s", t.URL, response.Status)
	}
	return "ws" + strings.TrimPrefix(t.URL, "http") + "/ws", []string{subprotocol, bearerPrefix + session.Token}, nil
}
