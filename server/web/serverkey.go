package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"

	"appserver/platform/disk"
	"appserver/server/listen"
)

const (
	// proofPrefix begins the text by which a server proves that it has the key of its home.
	proofPrefix = "appserver server 1"
	// nonceBytes is the length of the random text of a browser.
	nonceBytes = 32
)

// challengeParams has a random text of the browser, in base64.
type challengeParams struct {
	Nonce string `json:"nonce"`
}

type challengeResponse struct {
	Challenge string `json:"challenge"`
	// Proof is the signature of the server, or "" if it remembers no browser.
	Proof string `json:"proof"`
}

// keyPath returns the path of the private key of all servers of the home.
func (d devices) keyPath() string { return filepath.Join(dir(d.home), "server.key") }

// serverKey returns the private key, or nil if it is missing.
func (d devices) serverKey() (*ecdsa.PrivateKey, error) {
	text, err := listen.ReadSecret(d.keyPath())
	if disk.IsNotExist(err) {
		return nil, nil
	}
	var key *ecdsa.PrivateKey
	if err == nil {
		if text, err = base64.StdEncoding.DecodeString(string(text)); err == nil {
			key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), text)
		}
	}
	if err != nil { // the error may have a part of the key
		return nil, fmt.Errorf("the key of the server %s cannot be read: remove it; each browser then needs a ticket", d.keyPath())
	}
	return key, nil
}

// publicServerKey returns the public key in base64. It creates the key.
func (d devices) publicServerKey() (string, error) {
	var key *ecdsa.PrivateKey
	err := d.locked(func() (err error) {
		if key, err = d.serverKey(); err != nil || key != nil {
			return err
		}
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return err
		}
		raw, err := key.Bytes()
		if err != nil {
			return err
		}
		return disk.Wrap("write", d.keyPath(),
			disk.Replace(disk.OS(), d.keyPath(), []byte(base64.StdEncoding.EncodeToString(raw)+"\n")))
	})
	if err != nil {
		return "", err
	}
	point, err := key.PublicKey.Bytes()
	return base64.StdEncoding.EncodeToString(point), err
}

// proofText returns the text that a server signs for a browser.
func proofText(origin, nonce, challenge string) []byte {
	return []byte(proofPrefix + "\n" + origin + "\n" + nonce + "\n" + challenge)
}

// serveChallenge responds with a challenge, and with the proof that this server has the key of its home and listens at
// its address. Any program may ask: what it gets holds for this address only.
func (p *Page) serveChallenge(w http.ResponseWriter, r *http.Request) {
	var params challengeParams
	if !readBody(w, r, &params, `{"nonce": "…"} with 32 bytes in base64`, func() bool {
		nonce, err := base64.StdEncoding.DecodeString(params.Nonce)
		return err == nil && len(nonce) == nonceBytes && base64.StdEncoding.EncodeToString(nonce) == params.Nonce
	}) {
		return
	}
	key, err := p.devices.serverKey()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	response := challengeResponse{Challenge: p.challenges.issue()}
	if key != nil {
		digest := sha256.Sum256(proofText("http://"+p.guard.own, params.Nonce, response.Challenge))
		a, b, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			http.Error(w, "the server cannot sign", http.StatusInternalServerError)
			return
		}
		half := signatureBytes / 2
		response.Proof = base64.StdEncoding.EncodeToString(
			append(a.FillBytes(make([]byte, half)), b.FillBytes(make([]byte, half))...))
	}
	respond(w, http.StatusOK, response)
}
