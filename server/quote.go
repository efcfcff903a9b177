package server

import (
	"bytes"
	"strings"
)

// maxQuoted limits the quotation of client input in error messages, in bytes.
const maxQuoted = 200

// quote returns the first bytes of b in valid UTF-8, for an error message.
func quote(b []byte) []byte {
	return bytes.ToValidUTF8(b[:min(len(b), maxQuoted)], []byte("\ufffd"))
}

// maxErrorMessage is the length of an error message, in bytes, from which on its middle is left out. A message may
// quote a param of any length.
const maxErrorMessage = 16 << 10

// shorten leaves out the middle of a long error message. Its end often has the reason.
func shorten(message string) string {
	if len(message) <= maxErrorMessage {
		return message
	}
	const half = maxErrorMessage / 2
	return strings.ToValidUTF8(message[:half]+" … "+message[len(message)-half:], "\ufffd")
}
