package server

import (
	"strings"

	"appserver/protocol"
)

// ValidHeader reports whether an HTTP header can carry a value.
func ValidHeader(value string) bool { return !strings.ContainsFunc(value, isControl) }

// isControl reports whether r is a character that no header can carry.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// checkName refuses a client whose name cannot be sent to providers as a header.
func checkName(c protocol.ClientInfo) error {
	if ValidHeader(c.Name) {
		return nil
	}
	e := protocol.Refuse(protocol.KindInvalidParams, "Invalid clientInfo.name: %q. Use a name without control characters: it must be a valid HTTP header value.", c.Name)
	e.Data.Field = "clientInfo.name"
	return e
}

// originator is the name of a client for rollouts and providers.
func (h ServerHandlers) originator(c protocol.ClientInfo) string {
	if h.OriginatorOverride != "" {
		return h.OriginatorOverride
	}
	return c.Name
}
