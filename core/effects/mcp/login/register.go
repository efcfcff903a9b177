package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"appserver/protocol"
)

// clientName is the name that authorization servers show to the user.
const clientName = "appserver"

// client is a client of an authorization server.
type client struct {
	id, secret string
	// registered is set if the client was registered for this login.
	registered bool
}

// clientFor returns the configured client, or registers one (RFC 7591).
func (d *discovery) clientFor(ctx context.Context, s Server, redirect string, scopes []string) (client, error) {
	if s.ClientID != "" {
		return client{id: s.ClientID, secret: s.ClientSecret}, nil
	}
	if d.issuer.Register == "" {
		return client{}, fmt.Errorf("the authorization server %s does not register clients: register one there, and set client_id below [mcp_servers.%s.oauth]",
			clean(d.issuer.Issuer), s.Name)
	}
	body, err := protocol.Marshal(map[string]any{"client_name": clientName, "redirect_uris": []string{redirect},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "none", "application_type": "native", "scope": strings.Join(scopes, " ")})
	if err != nil {
		return client{}, err
	}
	c, err := d.guard.register(ctx, d.issuer.Register, body)
	if err != nil {
		return client{}, fmt.Errorf("the authorization server %s did not register a client: %w", clean(d.issuer.Issuer), err)
	}
	return c, nil
}

func (g *guard) register(ctx context.Context, address string, body []byte) (client, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return client{}, errors.New("its registration_endpoint is not valid")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	response, err := g.client(true).Do(r)
	if err != nil {
		return client{}, errors.New(clean(withoutAddress(err)))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return client{}, errors.New(clean(err.Error()))
	}
	var answer struct {
		ID          string `json:"client_id"`
		Secret      string `json:"client_secret"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	decoded := protocol.Unmarshal(text, &answer)
	switch {
	case response.StatusCode != http.StatusCreated && response.StatusCode != http.StatusOK:
		if decoded == nil && answer.Error != "" {
			return client{}, refused(answer.Error, answer.Description)
		}
		return client{}, fmt.Errorf("it answered with the status %d", response.StatusCode)
	case decoded != nil || answer.ID == "":
		return client{}, errors.New("its response has no client_id")
	}
	return client{id: answer.ID, secret: answer.Secret, registered: true}, nil
}

// config returns the configuration of token requests for a client.
func (d *discovery) config(c client) *oauth2.Config {
	style := oauth2.AuthStyleInParams
	methods := d.issuer.TokenMethods
	if c.secret != "" && !slices.Contains(methods, "client_secret_post") {
		style = oauth2.AuthStyleInHeader // the default of RFC 8414
	}
	return &oauth2.Config{ClientID: c.id, ClientSecret: c.secret,
		Endpoint: oauth2.Endpoint{AuthURL: d.issuer.Authorize, TokenURL: d.issuer.Token, AuthStyle: style}}
}

// request sends a token request with the guard of the server.
func (d *discovery) request(ctx context.Context, config *oauth2.Config, code string,
	options ...oauth2.AuthCodeOption) (*oauth2.Token, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, d.guard.client(true))
	token, err := config.Exchange(ctx, code, options...)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(token.Type(), "bearer") {
		return nil, fmt.Errorf("the type of the access token is %s, not bearer", clean(token.TokenType))
	}
	if !isHeaderText(token.AccessToken) {
		return nil, errors.New("the access token has characters that no header can have")
	}
	return token, nil
}

func isHeaderText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
