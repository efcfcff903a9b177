package server

import "bytes"

// maxQuoted limits the quotation of client input in error messages, in bytes.
const maxQuoted = 200

// quote returns the first bytes of b in valid UTF-8, for an error message.
func quote(b []byte) []byte {
	return bytes.ToValidUTF8(b[:min(len(b), maxQuoted)], []byte("\ufffd"))
}
