package protocol

import (
	"net/url"
	"strings"
)

// requestHeading precedes the user's request if an editor adds its own context before it.
const requestHeading = "## My request for Codex:"

// PluginsTag begins a message in the role of the user that lists plugins. The user did not
// write it.
const PluginsTag = "<recommended_plugins>"

// PreviewOf returns a user's message in the form of lists: trimmed, and without the context that an
// editor adds before the request.
func PreviewOf(message string) string {
	_, request, found := strings.Cut(message, requestHeading)
	if request = strings.TrimSpace(request); found && request != "" {
		return request
	}
	return strings.TrimSpace(message)
}

// PublicURL returns the address of a repository without passwords and tokens, or "" if it cannot be
// parsed. Over HTTP it has no user name either, since that may be a token.
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
