package listen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const key = "0123456789abcdef0123456789abcdef"

// now returns the fixed time of these tests.
func now() time.Time { return time.Unix(1_000_000, 0) }

// sign returns a token of two JSON texts.
func sign(header, payload, key string) string {
	signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(payload))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// TestSignedTokens checks the errors for each claim.
func TestSignedTokens(t *testing.T) {
	const hs256 = `{"alg":"HS256","typ":"JWT"}`
	b, err := SignedToken(Claims{Key: []byte(key), Issuer: "me", Audience: "app", Skew: 30 * time.Second, Now: now})
	require.NoError(t, err)
	good := sign(hs256, `{"exp":1000001,"iss":"me","aud":"app"}`, key)
	for _, c := range []struct{ token, says string }{
		{good, ""},
		{sign(hs256, `{"exp":1000001,"iss":"me","aud":["other","app"],"nbf":999999,"sub":"x"}`, key), ""},
		{sign(hs256, `{"exp":999970,"iss":"me","aud":"app"}`, key), ""},
		{sign(hs256, `{"exp":999969,"iss":"me","aud":"app"}`, key), "expired websocket jwt"},
		{sign(hs256, `{"exp":2000000,"nbf":1000030,"iss":"me","aud":"app"}`, key), ""},
		{sign(hs256, `{"exp":2000000,"nbf":1000031,"iss":"me","aud":"app"}`, key), "websocket jwt is not valid yet"},
		{sign(hs256, `{"exp":2000000,"iss":"you","aud":"app"}`, key), "websocket jwt issuer mismatch"},
		{sign(hs256, `{"exp":2000000,"aud":"app"}`, key), "websocket jwt issuer mismatch"},
		{sign(hs256, `{"exp":2000000,"iss":"me","aud":["other"]}`, key), "websocket jwt audience mismatch"},
		{sign(hs256, `{"exp":2000000,"iss":"me"}`, key), "websocket jwt audience mismatch"},
		{sign(hs256, `{"iss":"me","aud":"app"}`, key), "invalid websocket jwt"},
		{sign(hs256, `{"exp":"2000000","iss":"me","aud":"app"}`, key), "invalid websocket jwt"},
		{sign(hs256, `{"exp":2000000,"iss":"me","aud":7}`, key), "invalid websocket jwt"},
		{sign(hs256, `[]`, key), "invalid websocket jwt"},
		{sign(`{"alg":"none"}`, `{"exp":2000000,"iss":"me","aud":"app"}`, key), "invalid websocket jwt"},
		{sign(`{"alg":"HS512"}`, `{"exp":2000000,"iss":"me","aud":"app"}`, key), "invalid websocket jwt"},
		{sign(hs256, `{"exp":2000000,"iss":"me","aud":"app"}`, strings.ToUpper(key)), "invalid websocket jwt"},
		{good[:strings.LastIndexByte(good, '.')] + ".", "invalid websocket jwt"},
		{good[:strings.LastIndexByte(good, '.')], "invalid websocket jwt"},
		{good + "=", "invalid websocket jwt"},
		{"", "invalid websocket jwt"},
		{"..", "invalid websocket jwt"},
		{key, "invalid websocket jwt"},
	} {
		said := ""
		if err := b(c.token); err != nil {
			said = err.Error()
		}
		require.Equal(t, c.says, said, "%s", c.token)
	}
}

// TestSignedTokensOfAnyIssuer checks that claims without a required value are ignored.
func TestSignedTokensOfAnyIssuer(t *testing.T) {
	b, err := SignedToken(Claims{Key: []byte(key), Now: now})
	require.NoError(t, err)
	require.NoError(t, b(sign(`{"alg":"HS256"}`, `{"exp":1000000}`, key)))
	require.Error(t, b(sign(`{"alg":"HS256"}`, `{"exp":999999}`, key)))
	_, err = SignedToken(Claims{Key: []byte(key[1:]), Now: now})
	require.ErrorContains(t, err, "31 bytes")
}

// FuzzSigned checks that no unsigned token is accepted, and that nothing panics.
func FuzzSigned(f *testing.F) {
	for _, seed := range []string{"", "..", "a.b.c", "eyJhbGciOiJIUzI1NiJ9.e30.",
		sign(`{"alg":"HS256"}`, `{"exp":1}`, "other key")} {
		f.Add(seed)
	}
	b, err := SignedToken(Claims{Key: []byte(key), Now: now})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if b(token) == nil {
			t.Fatalf("%q opens", token)
		}
	})
}

// TestAuthorize checks the parsing of the Authorization header.
func TestAuthorize(t *testing.T) {
	b := StaticToken([]byte("secret"))
	for header, says := range map[string]string{
		"Bearer secret": "", "bearer secret": "", "BEARER  secret ": "",
		"": "missing websocket bearer token", "secret": "invalid authorization header",
		"Basic secret": "invalid authorization header",
		"Bearer":       "invalid websocket bearer token", "Bearer Secret": "invalid websocket bearer token",
		"Bearer secret x": "invalid websocket bearer token",
	} {
		said := ""
		if err := b.Authorize(http.Header{"Authorization": {header}}); err != nil {
			said = err.Error()
		}
		require.Equal(t, says, said, "%q", header)
	}
}

// TestParseDigest checks that exactly 64 digits are accepted.
func TestParseDigest(t *testing.T) {
	want := sha256.Sum256([]byte("secret"))
	got, err := ParseDigest(fmt.Sprintf(" %X\n", want))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, TokenDigest(got)("secret"))
	for _, text := range []string{"", "00", strings.Repeat("0", 63), strings.Repeat("0", 66), strings.Repeat("x", 64)} {
		_, err := ParseDigest(text)
		require.Error(t, err, "%q", text)
	}
}

// TestLoadOrCreateToken checks that concurrent servers create one token.
func TestLoadOrCreateToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "token")
	tokens := make(chan string, 8)
	for range cap(tokens) {
		go func() {
			token, err := LoadOrCreateToken(path)
			tokens <- fmt.Sprint(string(token), err)
		}()
	}
	first := <-tokens
	require.Regexp(t, `^[A-Z2-7]{26,}<nil>$`, first)
	for range cap(tokens) - 1 {
		require.Equal(t, first, <-tokens)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "what was made on the way is gone")
	require.NoError(t, os.WriteFile(path, []byte(" \n"), 0o600))
	_, err = LoadOrCreateToken(path)
	require.ErrorContains(t, err, "must not be empty", "a token of nothing would let everybody in")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = LoadOrCreateToken(path)
	require.Error(t, err)
	_, err = LoadOrCreateToken(filepath.Join(os.DevNull, "token"))
	require.Error(t, err)
}
