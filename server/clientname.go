package server

import (
	"strings"

	"appserver/protocol"
)

// ValidHeader reports whether value can be sent as the value of an HTTP header.
func ValidHeader(value string) bool { return !strings.ContainsFunc(value, isControl) }

// isControl reports whether r is a control character that HTTP headers must not contain.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// checkName rejects a client whose name cannot be sent to providers in a header.
func checkName(c protocol.ClientInfo) error {
	if ValidHeader(c.Name) {
		return nil
	}
	e := protocol.Refuse(
		protocol.KindInvalidParams,
		"Invalid clientInfo.name: %q. Use a name without control characters: it must be a valid HTTP header value.",
		c.Name,
	)
	e.Data.Field = "clientInfo.name"
	return e
}

// originator returns the name that rollouts and providers get for the client.
func (h ServerHandlers) originator(c protocol.ClientInfo) string {
	if h.OriginatorOverride != "" {
		return h.OriginatorOverride
	}
	return c.Name
}
