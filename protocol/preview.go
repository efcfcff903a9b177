package protocol

import (
	"net/url"
	"strings"
)

// requestHeading stands before the user's request if an editor puts its own context first.
const requestHeading = "## My request for Codex:"

// PluginsTag begins a message in the role of the user that lists plugins. The user did not
// write it.
const PluginsTag = "<recommended_plugins>"

// PreviewOf is a user's message as lists show it: trimmed, and without the context that an
// editor puts before the request.
func PreviewOf(message string) string {
	_, request, found := strings.Cut(message, requestHeading)
	if request = strings.TrimSpace(request); found && request != "" {
		return request
	}
	return strings.TrimSpace(message)
}

// PublicURL is the address of a repository without passwords and tokens, "" if it cannot be
// read. Over HTTP it has no user name either, since that may be a token.
func PublicURL(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if strings.HasPrefix(u.Scheme, "http") {
		u.User = nil
	} else if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}
