package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// challengeLife is the time in which a challenge must be answered.
	challengeLife = 30 * time.Second
	// signedPrefix begins the text that a device signs, so that its key signs for nothing else.
	signedPrefix = "appserver device 1"
	// signatureBytes is the length of a signature: the numbers r and s of ECDSA with P-256.
	signatureBytes = 64
	// deviceIDBytes is the number of bytes of the digest of a key that name it.
	deviceIDBytes = 8
)

var errInvalidKey = errors.New("the key must be an uncompressed point of P-256 in base64")

// challenges are random texts that devices sign. They name their end and the page that issued them, so callers of
// whom nothing is known take no memory, and cannot displace the challenges of others. Each works once.
type challenges struct {
	key []byte

	mu sync.Mutex
	// used are the texts of the sessions that were opened, until these texts end.
	used map[string]time.Time
}

func newChallenges() *challenges {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &challenges{key: key, used: map[string]time.Time{}}
}

func (c *challenges) issue() string {
	text := rand.Text() + "." + strconv.FormatInt(time.Now().Add(challengeLife).UnixNano(), 36)
	return text + "." + c.seal(text)
}

// seal returns the proof that a text is of this page.
func (c *challenges) seal(text string) string {
	sum := hmac.New(sha256.New, c.key)
	sum.Write([]byte(text))
	return hex.EncodeToString(sum.Sum(nil))
}

// end returns the end of a challenge, and whether it is open.
func (c *challenges) end(challenge string) (end time.Time, open bool) {
	at := strings.LastIndexByte(challenge, '.')
	if at < 0 || !hmac.Equal([]byte(c.seal(challenge[:at])), []byte(challenge[at+1:])) {
		return end, false
	}
	_, digits, _ := strings.Cut(challenge[:at], ".")
	nanoseconds, err := strconv.ParseInt(digits, 36, 64)
	end = time.Unix(0, nanoseconds)
	return end, err == nil && time.Now().Before(end)
}

// use ends a challenge, and reports whether it was open.
func (c *challenges) use(challenge string) bool {
	end, open := c.end(challenge)
	if !open {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.used, func(_ string, end time.Time) bool { return !time.Now().Before(end) })
	if _, used := c.used[challenge]; used {
		return false
	}
	c.used[challenge] = end
	return true
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
