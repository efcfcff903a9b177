package postgres

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// optionsError returns the cause of an invalid URL, and the next action. Errors of the options of TLS name
// files and options; other errors of the library can have the password.
func optionsError(err error) (cause, next string) {
	if err != nil && strings.Contains(err.Error(), "failed to configure TLS") {
		return fmt.Sprintf("the options for TLS in the URL are not valid (%v)", errors.Unwrap(err)),
			"correct sslmode, sslrootcert, sslcert and sslkey in the URL"
	}
	return "the URL is missing or not valid", "write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE"
}

// tlsCause returns the cause of a connection that failed because of TLS, and the next action, or "".
func tlsCause(address string, err error) (cause, next string) {
	if cause, next = certificateCause(err); cause != "" {
		return fmt.Sprintf("the certificate of the server at %s %s", address, cause), next
	}
	var alert tls.AlertError
	var header tls.RecordHeaderError
	switch {
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return fmt.Sprintf("the server at %s does not use TLS, which sslmode in the URL requires", address),
			"set ssl = on on the server; sslmode=disable in the URL is for a network that only the servers can read"
	case errors.As(err, &alert):
		return fmt.Sprintf("the server at %s rejects the TLS connection (%v)", address, alert),
			"correct sslcert and sslkey in the URL, or ssl_ca_file on the server"
	case errors.As(err, &header):
		return fmt.Sprintf("the server at %s does not answer with TLS", address), "correct the host and the port in the URL"
	}
	return "", ""
}

// certificateCause returns the fault of a certificate, as the end of a sentence, or "".
func certificateCause(err error) (cause, next string) {
	var host x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var roots x509.SystemRootsError
	var other *tls.CertificateVerificationError
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("is not for the host %q (%v)", host.Host, host),
			"use a host name of the certificate in the URL, or give the server a certificate for this host; " +
				"sslmode=verify-ca does not compare the host"
	case errors.As(err, &authority), errors.As(err, &roots):
		return fmt.Sprintf("is of an authority that is not trusted (%s)", rootOf(err)),
			"set sslrootcert in the URL to the file with the certificate of the authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("is not valid now (%v)", invalid),
			"renew the certificate on the server, or correct the clock of this machine"
	case errors.As(err, &invalid), errors.As(err, &other):
		return fmt.Sprintf("cannot be used (%s)", rootOf(err)), "replace the certificate on the server"
	}
	return "", ""
}
