package login

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/oauth2"
)

// RequiredError means that a server is used only after a login.
type RequiredError struct {
	Server string
	// Again is set if there was a login that is no longer valid.
	Again bool
}

// Error returns a message with the next action.
func (e *RequiredError) Error() string {
	problem := "requires a login"
	if e.Again {
		problem = "requires a new login, because the last one is no longer valid"
	}
	return fmt.Sprintf("the MCP server `%s` %s: run `appserver mcp login %s`, or call mcpServer/oauth/login",
		e.Server, problem, e.Server)
}

// LoginRequired reports whether the login is a repeated one.
func (e *RequiredError) LoginRequired() (again bool) { return e.Again }

// ScopeError means that a login does not cover a request.
type ScopeError struct {
	Server string
	Scopes []string
}

// Error returns a message with the next action.
func (e *ScopeError) Error() string {
	if len(e.Scopes) == 0 {
		return fmt.Sprintf("the login at the MCP server `%s` has too few scopes for this request: run `appserver mcp login %s --scopes SCOPE,SCOPE`",
			e.Server, e.Server)
	}
	return fmt.Sprintf("the login at the MCP server `%s` lacks scopes for this request, which needs %s: run `appserver mcp login %s --scopes %s`",
		e.Server, strings.Join(e.Scopes, " "), e.Server, strings.Join(e.Scopes, ","))
}

var (
	// errNoLogin means that a server does not offer logins.
	errNoLogin = errors.New("it names no authorization server")
	// errUnreachable means that it is unknown whether a server offers logins.
	errUnreachable = errors.New("it cannot be reached")
)

// maxText bounds a text of a server in an error, in bytes.
const maxText = 300

// clean returns a text of a server in one line without control characters, and bounded.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// refused describes an error of an authorization server.
func refused(code, description string) error {
	code, description = clean(code), clean(description)
	switch {
	case code == "" && description == "":
		return errors.New("the authorization server refused the request, and gave no reason")
	case description == "":
		return fmt.Errorf("the authorization server refused the request: %s", code)
	case code == "":
		return fmt.Errorf("the authorization server refused the request: %s", description)
	}
	return fmt.Errorf("the authorization server refused the request: %s: %s", code, description)
}

// explain returns an error of a token request without the response, which may have tokens. A refused one has
// the code of the authorization server.
func explain(err error) (code string, _ error) {
	if response := new(oauth2.RetrieveError); errors.As(err, &response) {
		if response.ErrorCode == "" && response.Response != nil {
			return "", fmt.Errorf("the token endpoint answered with the status %d", response.Response.StatusCode)
		}
		return response.ErrorCode, refused(response.ErrorCode, response.ErrorDescription)
	}
	return "", fmt.Errorf("the token request failed: %s", clean(withoutAddress(err)))
}
