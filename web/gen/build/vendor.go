package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"appserver/protocol"
)

// Package is a vendored npm package of web/vendor/vendor.json.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
	// Integrity is the checksum of the archive in the npm registry, as in a package lock.
	Integrity string `json:"integrity"`
	// Files has the SHA-256 of each file by its path in the package.
	Files map[string]string `json:"files"`
}

// Packages reads vendor.json in dir.
func Packages(dir string) ([]Package, error) {
	text, err := os.ReadFile(filepath.Join(dir, "vendor.json"))
	if err != nil {
		return nil, err
	}
	var list struct {
		Packages []Package `json:"packages"`
	}
	if err := protocol.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("vendor.json: %w", err)
	}
	return list.Packages, nil
}

// Verify returns an error unless the files of a package in dir are the ones of the registry.
func (p Package) Verify(dir string) error {
	for name, sum := range p.Files {
		content, err := os.ReadFile(filepath.Join(dir, p.Name, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
			return fmt.Errorf("%s/%s differs from version %s: run make vendor-web", p.Name, name, p.Version)
		}
	}
	return nil
}

// Licences returns the names, versions and licences of the packages in dir.
func Licences(dir string) ([]byte, error) {
	packages, err := Packages(dir)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, p := range packages {
		text, err := os.ReadFile(filepath.Join(dir, p.Name, "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s %s (%s)\n\n%s\n\n", p.Name, p.Version, p.Licence, bytes.TrimSpace(text))
	}
	return out.Bytes(), nil
}
