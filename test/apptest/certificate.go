package apptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority issues certificates.
type Authority struct {
	// File has the certificate of the authority in PEM.
	File string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns an authority of its own.
func NewAuthority(t testing.TB) *Authority {
	key := newKey(t)
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return &Authority{writePEM(t, filepath.Join(t.TempDir(), "ca.pem"), "CERTIFICATE", der), cert, key}
}

// Issue returns the PEM files of a certificate and its key, for a host name or an IP address. The
// certificate is valid between two times from now.
func (a *Authority) Issue(t testing.TB, host string, from, until time.Duration) (cert, key string) {
	pair := newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(until), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &pair.PublicKey, a.key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	require.NoError(t, err)
	dir := t.TempDir()
	return writePEM(t, filepath.Join(dir, "cert.pem"), "CERTIFICATE", der),
		writePEM(t, filepath.Join(dir, "key.pem"), "PRIVATE KEY", private)
}

const hour = time.Hour

// pairOf returns the configuration of a server with a certificate and its key.
func pairOf(t testing.TB, cert, key string) *tls.Config {
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// Client returns the configuration of clients that trust the authority.
func (a *Authority) Client() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{RootCAs: pool}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func writePEM(t testing.TB, path, kind string, der []byte) string {
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}
