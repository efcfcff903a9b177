package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"sync"
	"time"
)

const (
	// challengeLife is the time in which a challenge must be answered.
	challengeLife = 30 * time.Second
	// maxChallenges is the number of open challenges. A further one ends the oldest.
	maxChallenges = 64
	// signedPrefix begins the text that a device signs, so that its key signs for nothing else.
	signedPrefix = "appserver device 1"
	// signatureBytes is the length of a signature: the numbers r and s of ECDSA with P-256.
	signatureBytes = 64
	// deviceIDBytes is the number of bytes of the digest of a key that name it.
	deviceIDBytes = 8
)

var errInvalidKey = errors.New("the key must be an uncompressed point of P-256 in base64")

// challenges are random texts that devices sign. Each works once.
type challenges struct {
	mu   sync.Mutex
	open []challenge
}

type challenge struct {
	text    string
	expires time.Time
}

func (c *challenges) issue() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == maxChallenges {
		c.open = slices.Delete(c.open, 0, 1)
	}
	text := rand.Text()
	c.open = append(c.open, challenge{text, time.Now().Add(challengeLife)})
	return text
}

// take ends a challenge. It reports whether the challenge was open.
func (c *challenges) take(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.open, func(open challenge) bool { return open.text == text })
	if at < 0 {
		return false
	}
	valid := time.Now().Before(c.open[at].expires)
	c.open = slices.Delete(c.open, at, at+1)
	return valid
}

// signedText returns the text that a device signs to open a session at an origin.
func signedText(origin, challenge string) []byte {
	return []byte(signedPrefix + "\n" + origin + "\n" + challenge)
}

// parseKey parses a public key.
func parseKey(text string) (*ecdsa.PublicKey, error) {
	point, err := base64.StdEncoding.DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(point) != text { // one key has one id
		return nil, errInvalidKey
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, errInvalidKey
	}
	return key, nil
}

// deviceID returns the id of a public key.
func deviceID(key string) string {
	digest := sha256.Sum256([]byte(key))
	return hex.EncodeToString(digest[:deviceIDBytes])
}

// verify reports whether a signature is that of a key for a text.
func verify(key, signature string, text []byte) bool {
	public, err := parseKey(key)
	s, decodeErr := base64.StdEncoding.DecodeString(signature)
	if err != nil || decodeErr != nil || len(s) != signatureBytes {
		return false
	}
	digest := sha256.Sum256(text)
	half := signatureBytes / 2
	return ecdsa.Verify(public, digest[:], new(big.Int).SetBytes(s[:half]), new(big.Int).SetBytes(s[half:]))
}
