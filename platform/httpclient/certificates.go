package httpclient

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Variables with certificates.
const (
	ownCertificates   = "CODEX_CA_CERTIFICATE"
	certificateFile   = "SSL_CERT_FILE"
	certificateFolder = "SSL_CERT_DIR"
)

// maxCertificates bounds a file of certificates, in bytes.
const maxCertificates = 16 << 20

// roots returns the trusted certificates, or nil for those of the system.
func roots(getenv func(string) string) (*x509.CertPool, error) {
	variable, file := first(getenv, ownCertificates, certificateFile)
	folders := getenv(certificateFolder)
	if variable == "" && folders == "" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the system has none
	}
	if variable != "" {
		if err := addFile(pool, file); err != nil {
			return nil, &SetupError{variable, fmt.Sprintf("names the file %s: %v", file, err)}
		}
	}
	if folders != "" {
		if n := addFolders(pool, filepath.SplitList(folders)); n == 0 && variable == "" {
			return nil, &SetupError{certificateFolder, fmt.Sprintf("names %s: no file in it is a certificate", folders)}
		}
	}
	return pool, nil
}

var (
	errNotFile       = errors.New("it is not a regular file")
	errNoCertificate = errors.New("it has no certificate in PEM or DER form")
	errTooLong       = errors.New("it is too long")
)

// addFile adds the certificates of a file.
func addFile(pool *x509.CertPool, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return withoutPath(err)
	case !info.Mode().IsRegular():
		return errNotFile
	case info.Size() > maxCertificates:
		return errTooLong
	}
	f, err := os.Open(path)
	if err != nil {
		return withoutPath(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxCertificates))
	if err != nil {
		return withoutPath(err)
	}
	list := certificates(content)
	for _, c := range list {
		pool.AddCert(c)
	}
	if len(list) == 0 {
		return errNoCertificate
	}
	return nil
}

func withoutPath(err error) error {
	if p := new(os.PathError); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// addFolders adds the certificates of the files in folders, and returns the number of these files. Go does so on
// systems other than macOS and Windows.
func addFolders(pool *x509.CertPool, folders []string) (n int) {
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if addFile(pool, filepath.Join(folder, e.Name())) == nil {
				n++
			}
		}
	}
	return n
}

// certificates returns the certificates of a bundle. It ignores comments, keys, and certificates that cannot be
// parsed.
func certificates(content []byte) (list []*x509.Certificate) {
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	for rest := content; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if c := certificateOf(block); c != nil {
			list = append(list, c)
		}
	}
	if len(list) > 0 {
		return list
	}
	list, err := x509.ParseCertificates(content)
	if err != nil {
		return nil
	}
	return list
}

// certificateOf returns the certificate of a PEM block, or nil. In a block TRUSTED CERTIFICATE, data of OpenSSL
// follow the certificate.
func certificateOf(block *pem.Block) *x509.Certificate {
	der := block.Bytes
	switch block.Type {
	case "CERTIFICATE", "X509 CERTIFICATE":
	case "TRUSTED CERTIFICATE":
		var raw asn1.RawValue
		if _, err := asn1.Unmarshal(der, &raw); err != nil {
			return nil
		}
		der = raw.FullBytes
	default:
		return nil
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil
	}
	return c
}
