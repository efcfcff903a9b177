package listen

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"appserver/platform/osfile"
)

// TokenCheck validates a bearer token. It returns nil for a valid token, or an error for the
// client.
type TokenCheck func(token string) error

var errInvalidToken = errors.New("invalid websocket bearer token")

// TokenDigest accepts the token with this SHA-256 digest.
func TokenDigest(digest [sha256.Size]byte) TokenCheck {
	return func(token string) error {
		if given := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(given[:], digest[:]) != 1 {
			return errInvalidToken
		}
		return nil
	}
}

// StaticToken accepts one token.
func StaticToken(token []byte) TokenCheck { return TokenDigest(sha256.Sum256(token)) }

// ParseDigest parses a SHA-256 digest of 64 hexadecimal digits.
func ParseDigest(text string) (digest [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != len(digest) {
		return digest, errors.New("--ws-token-sha256 must be a 64-character hex SHA-256 digest")
	}
	return [sha256.Size]byte(b), nil
}

// ReadSecret reads a token or a key from a file and trims surrounding space. An empty file is
// an error.
func ReadSecret(path string) ([]byte, error) {
	text, err := osfile.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read websocket auth secret %s: %w", path, err)
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, fmt.Errorf("websocket auth secret %s must not be empty", path)
	}
	return text, nil
}

// LoadOrCreateToken returns the token in a file with mode 0600. If the file is missing, it
// creates one with a random token. Clients of the same user read the token from the file, also
// after a restart.
func LoadOrCreateToken(path string) ([]byte, error) {
	token, err := ReadSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := createToken(path); err != nil {
		return nil, fmt.Errorf("create the token file: %w", err)
	}
	return ReadSecret(path)
}

// createToken writes a random token to path. If another server creates the file at the same
// time, that file is kept.
func createToken(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".token") // creates it with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(rand.Text() + "\n")
	// Sync first: after a power failure, an empty file would prevent the server from starting.
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Authorize checks the bearer token of a request. Its messages are those of the reference
// implementation.
func (b TokenCheck) Authorize(header http.Header) error {
	given := header.Get("Authorization")
	scheme, token, _ := strings.Cut(given, " ")
	switch {
	case given == "":
		return errors.New("missing websocket bearer token")
	case !strings.EqualFold(scheme, "Bearer"):
		return errors.New("invalid authorization header")
	}
	return b(strings.TrimSpace(token))
}
