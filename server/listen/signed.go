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

// minKey is how many bytes a key must have: one of HS256 that is shorter than its hash can
// be guessed from a token.
const minKeyBytes = 32

var errInvalidJWT = errors.New("invalid websocket jwt")

// Claims are what a signed token has to say.
type Claims struct {
	// Key is who signs and who checks has.
	Key []byte
	// Issuer and Audience are not looked at where they are empty.
	Issuer, Audience string
	// Skew is how much the clock of who signs may differ.
	Skew time.Duration
	Now  func() time.Time
}

// Signed opens to JSON Web Tokens (RFC 7519) that are signed with the key by HS256, and
// expire.
func SignedToken(c Claims) (TokenCheck, error) {
	if len(c.Key) < minKeyBytes {
		return nil, fmt.Errorf("the key of signed tokens has %d bytes: it needs %d at least", len(c.Key), minKeyBytes)
	}
	return c.check, nil
}

// claims are the members of a token that are looked at.
type payload struct {
	Expires  *float64 `json:"exp"`
	Begins   *float64 `json:"nbf"`
	Issuer   string   `json:"iss"`
	Audience audience `json:"aud"`
}

// audience is one name, or several.
type audience []string

// UnmarshalJSON reads either.
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

// read looks at the signature before it looks at what is signed.
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
