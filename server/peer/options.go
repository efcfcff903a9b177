package peer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"
)

// minSecret is the minimum length of the secret, in bytes.
const minSecret = 32

// Options configures a Port.
type Options struct {
	// Listen is the URL to listen on, with ws or wss. Address is the URL that other nodes dial; by
	// default Listen, with the port that was bound.
	Listen, Address string
	// Secret is the secret of the fleet. Variable is the environment variable that has it, for errors.
	Secret, Variable string
	// Cert and Key are PEM files with the certificate of wss and its key. CA is a PEM file with the
	// authorities of the certificates of all nodes; by default those of the system.
	Cert, Key, CA string
	// Silence is the time after which a link ends from which nothing arrives. 0 is no limit.
	Silence time.Duration
}

// Keys of the configuration.
const (
	keyListen  = "fleet.listen"
	keyAddress = "fleet.address"
	keySecret  = "fleet.secret_env"
	keyCert    = "fleet.cert"
	keyKey     = "fleet.key"
	keyCA      = "fleet.ca"
)

// OptionError reports an option with which a port cannot work.
type OptionError struct {
	// Key is the key of the configuration.
	Key string
	// Cause is the problem. Next is the next action of the operator.
	Cause, Next string
}

// Error returns a message with the key, the cause and the next action.
func (e *OptionError) Error() string { return e.Key + ": " + e.Cause + ": " + e.Next }

// parseURL parses the URL of a port.
func parseURL(key, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil, &OptionError{key, fmt.Sprintf("%q is not an address of a port", text), "write it as wss://HOST:PORT"}
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 && key == keyAddress {
		return nil, &OptionError{key, fmt.Sprintf("%q has no port", text), "write it as wss://HOST:PORT"}
	}
	return u, nil
}

// parseURLs parses Listen and Address. Address may be nil.
func (o Options) parseURLs() (at, address *url.URL, err error) {
	if at, err = parseURL(keyListen, o.Listen); err != nil {
		return nil, nil, err
	}
	if o.Address == "" {
		if host := at.Hostname(); host == "" || isUnspecified(host) {
			return nil, nil, &OptionError{keyAddress, "other nodes cannot dial " + o.Listen,
				"set the address of this machine, as wss://HOST:PORT"}
		}
		return at, nil, nil
	}
	if address, err = parseURL(keyAddress, o.Address); err != nil {
		return nil, nil, err
	}
	switch host := address.Hostname(); {
	case host == "" || isUnspecified(host):
		err = &OptionError{keyAddress, "other nodes cannot dial " + o.Address,
			"set the address of this machine, as wss://HOST:PORT"}
	case at.Scheme == "wss" && address.Scheme != "wss":
		err = &OptionError{keyAddress, fmt.Sprintf("%q does not match fleet.listen, which uses TLS", o.Address),
			"write it as wss://HOST:PORT"}
	}
	return at, address, err
}

func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}

func (o Options) checkSecret() error {
	next := "set it to the same text on all nodes, such as the output of openssl rand -hex 32"
	switch {
	case o.Secret == "":
		return &OptionError{keySecret, "the environment variable " + o.Variable + " is not set", next}
	case len(o.Secret) < minSecret:
		return &OptionError{keySecret, fmt.Sprintf("the secret in the environment variable %s has %d characters, fewer than %d",
			o.Variable, len(o.Secret), minSecret), next}
	}
	return nil
}

// roots returns the authorities for certificates, or nil for those of the system.
func (o Options) roots() (*x509.CertPool, error) {
	if o.CA == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.CA)
	if err != nil {
		return nil, &OptionError{keyCA, fmt.Sprintf("the file cannot be read: %v", err), "correct its path or its mode"}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, &OptionError{keyCA, o.CA + " has no certificate", "name a file with certificates in PEM"}
	}
	return pool, nil
}

// certificate reads the certificate and its key.
func (o Options) certificate() (*tls.Certificate, error) {
	for _, file := range []struct{ key, path string }{{keyCert, o.Cert}, {keyKey, o.Key}} {
		if file.path == "" {
			return nil, &OptionError{file.key, "no file is set", "name a PEM file, or use ws:// if all of the network is trusted"}
		}
		if _, err := os.ReadFile(file.path); err != nil {
			return nil, &OptionError{file.key, fmt.Sprintf("the file cannot be read: %v", err), "correct its path or its mode"}
		}
	}
	pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, &OptionError{keyCert, fmt.Sprintf("%s and %s are not a certificate and its key: %v", o.Cert, o.Key, err),
			"name the certificate in fleet.cert and its key in fleet.key, both in PEM"}
	}
	return &pair, nil
}

// checkCertificate verifies a certificate as other nodes do when they dial a host.
func (o Options) checkCertificate(pair *tls.Certificate, roots *x509.CertPool, host string) error {
	leaf := pair.Leaf
	problem := func(next, format string, args ...any) error {
		return &OptionError{keyCert, fmt.Sprintf(format, args...), next}
	}
	switch now := time.Now(); {
	case now.After(leaf.NotAfter):
		return problem("renew it", "the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return problem("correct the clock of this machine, or use another certificate",
			"the certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	if err := leaf.VerifyHostname(host); err != nil {
		return problem("add the host to the certificate, or correct fleet.address",
			"the certificate is not for the host %s, which other nodes dial: %v", host, err)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates(pair)})
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknown) && o.CA != "":
		return problem("use a certificate of one of them, or correct fleet.ca",
			"no authority in %s has signed the certificate", o.CA)
	case errors.As(err, &unknown):
		return problem("name its authority in fleet.ca", "no authority of the system has signed the certificate")
	case err != nil:
		return problem("use another certificate", "other nodes do not accept the certificate: %v", err)
	}
	return nil
}

func intermediates(pair *tls.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			pool.AddCert(c)
		}
	}
	return pool
}
