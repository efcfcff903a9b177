package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"

	"appserver/web/gen/build"
)

// component is a part of the program that others wrote.
type component struct {
	name, version, purl string
	hash                cdx.Hash
	// licences are SPDX identifiers.
	licences []string
	// texts has the licence files, each with its name.
	texts []file
}

// componentsOf returns the components of a program: the modules of its build information, the Go standard
// library, the npm packages of the page, and the table of models.
func (r *release) componentsOf(ctx context.Context, program string) ([]component, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	root, err := r.command(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	library := component{name: "std", version: version, purl: "pkg:golang/std@" + version}
	if err := library.readLicences(strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	list := []component{library}
	args := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("module %s is replaced, which a release must not be", m.Path)
		}
		hash, err := hashOf(cdx.HashAlgoSHA256, strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", m.Path, err)
		}
		list = append(list, component{name: m.Path, version: m.Version, hash: hash,
			purl: "pkg:golang/" + m.Path + "@" + m.Version})
		args = append(args, m.Path)
	}
	out, err := r.command(ctx, "go", args...)
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[path] = folder
	}
	for i := range list[1:] {
		if err := list[i+1].readLicences(folders[list[i+1].name]); err != nil {
			return nil, err
		}
	}
	packages, err := r.pageComponents()
	if err != nil {
		return nil, err
	}
	data, err := r.modelTable()
	return append(append(list, packages...), data), err
}

// modelTable returns the table of models, whose version is the date of its source.
func (r *release) modelTable() (component, error) {
	folder := filepath.Join(r.root, "core", "effects", "modeltable")
	text, err := os.ReadFile(filepath.Join(folder, "models.tsv"))
	if err != nil {
		return component{}, err
	}
	date := regexp.MustCompile(`(?m)^# Source: models\.dev, .* as of ([\d-]+)\.$`).FindSubmatch(text)
	if date == nil {
		return component{}, errors.New("models.tsv does not name the date of its source: run make models")
	}
	c := component{name: "models.dev", version: string(date[1]), purl: "pkg:generic/models.dev@" + string(date[1])}
	return c, c.readLicences(folder)
}

// pageComponents returns the npm packages of the page.
func (r *release) pageComponents() ([]component, error) {
	vendor := filepath.Join(r.root, "web", "vendor")
	packages, err := build.Packages(vendor)
	if err != nil {
		return nil, err
	}
	var list []component
	for _, p := range packages {
		hash, err := hashOf(cdx.HashAlgoSHA512, strings.TrimPrefix(p.Integrity, "sha512-"))
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
		c := component{name: p.Name, version: p.Version, hash: hash,
			purl: "pkg:npm/" + strings.ReplaceAll(p.Name, "@", "%40") + "@" + p.Version}
		if err := c.readLicences(filepath.Join(vendor, p.Name)); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func hashOf(algorithm cdx.HashAlgorithm, text string) (cdx.Hash, error) {
	sum, err := base64.StdEncoding.DecodeString(text)
	return cdx.Hash{Algorithm: algorithm, Value: hex.EncodeToString(sum)}, err
}

// readLicences reads the licence files of a folder. A component without a known licence is an error.
func (c *component) readLicences(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("licences of %s: %w", c.name, err)
	}
	named := regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|notice)`)
	for _, e := range entries {
		if !named.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		c.texts = append(c.texts, file{e.Name(), 0o644, text})
		for _, m := range licensecheck.Scan(text).Match {
			c.licences = append(c.licences, m.ID)
		}
	}
	slices.Sort(c.licences)
	c.licences = slices.Compact(c.licences)
	if len(c.licences) == 0 {
		return fmt.Errorf("%s has no known licence in %s", c.name, folder)
	}
	return nil
}

// licenceTexts joins the licence files of all components.
func licenceTexts(components []component) []byte {
	var b bytes.Buffer
	b.WriteString("appserver contains these components. Their licences follow.\n")
	for _, c := range components {
		for _, text := range c.texts {
			fmt.Fprintf(&b, "\n%[1]s\n%[2]s %[3]s: %[4]s\n%[1]s\n\n%[5]s\n", strings.Repeat("=", 72), c.name, c.version,
				text.name, bytes.TrimSpace(text.content))
		}
	}
	return b.Bytes()
}

// sbom returns a CycloneDX document of the components. It has no serial number, because that is random.
func (r *release) sbom(components []component) ([]byte, error) {
	document := cdx.NewBOM()
	document.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: "appserver", Version: r.version, BOMRef: "appserver",
		PackageURL: "pkg:generic/appserver@" + r.version, Licenses: licencesOf([]string{"MIT"})}}
	list, references := []cdx.Component{}, []string{}
	for _, c := range components {
		part := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: c.name, Version: c.version, BOMRef: c.purl,
			PackageURL: c.purl, Licenses: licencesOf(c.licences)}
		if c.hash.Value != "" {
			part.Hashes = &[]cdx.Hash{c.hash}
		}
		list, references = append(list, part), append(references, c.purl)
	}
	document.Components = &list
	document.Dependencies = &[]cdx.Dependency{{Ref: "appserver", Dependencies: &references}}
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(document)
	return b.Bytes(), err
}

func licencesOf(ids []string) *cdx.Licenses {
	var list cdx.Licenses
	for _, id := range ids {
		list = append(list, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &list
}

// writeComponents writes the components of a program that is built.
func (r *release) writeComponents(ctx context.Context, program, path string) error {
	if program == "" {
		return errors.New("-sbom needs the path of a program")
	}
	components, err := r.componentsOf(ctx, program)
	if err != nil {
		return err
	}
	text, err := r.sbom(components)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
