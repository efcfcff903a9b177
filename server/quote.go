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

// maxErrorMessage is the maximum length of an error message, in bytes. A message may quote a param of any length.
const maxErrorMessage = 16 << 10

// shorten leaves out the middle of an error message that is too long. Its end often has the reason.
func shorten(message string) string {
	if len(message) <= maxErrorMessage {
		return message
	}
	const omitted = " … "
	const half = (maxErrorMessage - len(omitted)) / 2
	return strings.ToValidUTF8(message[:half], "") + omitted + strings.ToValidUTF8(message[len(message)-half:], "")
}
