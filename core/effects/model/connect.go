package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"appserver/platform/osfile"
)

// minSecret is the length from which on a configured value is a secret: shorter
// ones protect nothing, and cutting them out would maim messages.
const minSecret = 6

// wayError is an error of the way to an endpoint, such as a proxy or the file of certificates. The endpoint is not
// the reason.
type wayError interface {
	error
	// Advice returns the next action.
	Advice() string
	// Temporary reports whether another request may succeed.
	Temporary() bool
}

// viaOf returns the proxy of a request, and the variable that names it, or "".
func viaOf(transport http.RoundTripper, u *url.URL) string {
	if t, ok := transport.(interface{ Via(*url.URL) string }); ok {
		return t.Via(u)
	}
	return ""
}

// advice returns the reason of a failed connection, and what to check.
func advice(err error) string {
	var (
		dns    *net.DNSError
		silent *idleError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		signer x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &signer):
		return "TLS failed (" + err.Error() + "); if the authority is a private one, name the file with its certificate in " +
			"the environment variable CODEX_CA_CERTIFICATE"
	case errors.As(err, &silent):
		return silent.Error() + "; raise stream_idle_timeout_ms if the model needs longer"
	case osfile.Is(err, syscall.ECONNREFUSED):
		return "connection refused; check that it is running and that base_url is right"
	case errors.As(err, &dns):
		return "cannot look up host " + dns.Name + " (" + dns.Err + "); check base_url and the network"
	case errors.Is(err, io.EOF):
		return "the connection was closed before an answer; check that base_url is right"
	case errors.As(err, &cert), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "TLS failed (" + err.Error() + "); check its certificate and the scheme of base_url"
	}
	return err.Error() + "; check base_url and the network"
}

// shownURL returns a URL without its secret parts.
func shownURL(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	return shown.String()
}

// redactor cuts the secrets of an endpoint out of text.
func redactor(e Endpoint) *strings.Replacer {
	secrets := []string{e.APIKey}
	for _, value := range e.Headers {
		secrets = append(secrets, value, value[strings.LastIndex(value, " ")+1:])
	}
	for _, value := range e.Query {
		secrets = append(secrets, value, url.QueryEscape(value))
	}
	if u, err := url.Parse(e.BaseURL); err == nil {
		password, _ := u.User.Password()
		secrets = append(secrets, password)
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	}
	var pairs []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			pairs = append(pairs, s, "[redacted]")
		}
	}
	return strings.NewReplacer(pairs...)
}
