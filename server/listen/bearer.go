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
)

// Bearer decides about tokens. Its error is nil for one that opens the server, and
// otherwise tells the client what is wrong.
type TokenCheck func(token string) error

var errInvalidToken = errors.New("invalid websocket bearer token")

// TokenDigest opens to the one token with this SHA-256.
func TokenDigest(digest [sha256.Size]byte) TokenCheck {
	return func(token string) error {
		if given := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(given[:], digest[:]) != 1 {
			return errInvalidToken
		}
		return nil
	}
}

// Token opens to one token.
func StaticToken(token []byte) TokenCheck { return TokenDigest(sha256.Sum256(token)) }

// ParseDigest reads a SHA-256 in hexadecimal digits.
func ParseDigest(text string) (digest [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != len(digest) {
		return digest, errors.New("--ws-token-sha256 must be a 64-character hex SHA-256 digest")
	}
	return [sha256.Size]byte(b), nil
}

// ReadSecret reads a token, or a key, that is alone in its file, with space around it.
func ReadSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read websocket auth secret %s: %w", path, err)
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, fmt.Errorf("websocket auth secret %s must not be empty", path)
	}
	return text, nil
}

// KeptToken is the token in a file that its owner alone can read; without the file it is
// made. So a client that knows the file finds its way in, also after a restart.
func LoadOrCreateToken(path string) ([]byte, error) {
	token, err := ReadSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := createToken(path); err != nil {
		return nil, fmt.Errorf("make a token for clients: %w", err)
	}
	return ReadSecret(path)
}

// makeToken leaves a file alone that another server has made meanwhile.
func createToken(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".token") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(rand.Text() + "\n")
	// An empty file, which a power failure could leave, would keep servers from starting.
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// admit looks at the token of a request. Its words are those of the reference
// implementation.
func (b TokenCheck) authorize(header http.Header) error {
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
