package listen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

// minKeyBytes is the minimum length of a key. RFC 7518 requires an HS256 key of at least the
// hash size; a shorter one can be guessed from a token.
const minKeyBytes = 32

var errInvalidJWT = errors.New("invalid websocket jwt")

// Claims configures the validation of signed tokens.
type Claims struct {
	// Key is the shared HMAC key.
	Key []byte
	// Issuer and Audience are required values. An empty one is not checked.
	Issuer, Audience string
	// Skew is the tolerated clock difference to the issuer.
	Skew time.Duration
	Now  func() time.Time
}

// SignedToken accepts JSON Web Tokens (RFC 7519) with a signature by HS256 and the claim exp.
func SignedToken(c Claims) (TokenCheck, error) {
	if len(c.Key) < minKeyBytes {
		return nil, fmt.Errorf(
			"the key for signed tokens has %d bytes; use one of at least %d",
			len(c.Key),
			minKeyBytes,
		)
	}
	return c.check, nil
}

// payload holds the claims of a token that are checked.
type payload struct {
	Expires  *float64 `json:"exp"`
	Begins   *float64 `json:"nbf"`
	Issuer   string   `json:"iss"`
	Audience audience `json:"aud"`
}

// audience is one name or a list of names.
type audience []string

// UnmarshalJSON accepts a string or an array of strings.
func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if protocol.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return protocol.Unmarshal(b, (*[]string)(a))
}

func (c Claims) check(token string) error {
	said, err := c.read(token)
	if err != nil {
		return err
	}
	now, skew := float64(c.Now().Unix()), c.Skew.Seconds()
	switch {
	case said.Expires == nil:
		return errInvalidJWT
	case now > *said.Expires+skew:
		return errors.New("expired websocket jwt")
	case said.Begins != nil && now < *said.Begins-skew:
		return errors.New("websocket jwt is not valid yet")
	case c.Issuer != "" && said.Issuer != c.Issuer:
		return errors.New("websocket jwt issuer mismatch")
	case c.Audience != "" && !slices.Contains(said.Audience, c.Audience):
		return errors.New("websocket jwt audience mismatch")
	}
	return nil
}

// read verifies the signature and then decodes the payload.
func (c Claims) read(token string) (said payload, err error) {
	dot := strings.LastIndexByte(token, '.')
	if dot < 0 {
		return said, errInvalidJWT
	}
	signed, signature := token[:dot], token[dot+1:]
	given, err := base64.RawURLEncoding.DecodeString(signature)
	mac := hmac.New(sha256.New, c.Key)
	mac.Write([]byte(signed))
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return said, errInvalidJWT
	}
	header, payload, _ := strings.Cut(signed, ".")
	var h struct {
		Alg string `json:"alg"`
	}
	if decode(header, &h) != nil || h.Alg != "HS256" || decode(payload, &said) != nil {
		return said, errInvalidJWT
	}
	return said, nil
}

func decode(part string, v any) error {
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return protocol.Unmarshal(b, v)
}
