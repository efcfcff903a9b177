package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
	"appserver/web/gen/build"
)

// manifest are the members of package.json that the package of the extension repeats.
type manifest struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Publisher   string   `json:"publisher"`
	Categories  []string `json:"categories"`
	Engines     struct {
		VSCode string `json:"vscode"`
	} `json:"engines"`
}

// binFolder is the folder of the program in the package.
const binFolder = "extension/bin/"

// pack returns the .vsix file of the extension. root is the root of the repository. The same sources
// give the same bytes.
func pack(root string, b bundle) ([]byte, error) {
	files, err := contents(root)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := protocol.Unmarshal(files["extension/package.json"], &m); err != nil {
		return nil, fmt.Errorf("read package.json: %w", err)
	}
	for name, content := range b.files {
		files[binFolder+name] = content
	}
	if files["extension.vsixmanifest"], err = m.xml(b.platform); err != nil {
		return nil, err
	}
	files["[Content_Types].xml"] = contentTypes(files)
	return archive(files)
}

// contents returns the files of the extension by their names in the package.
func contents(root string) (map[string][]byte, error) {
	dir := filepath.Join(root, "editors", "vscode")
	files := map[string][]byte{}
	for name, source := range map[string]string{
		"package.json":   filepath.Join(dir, "package.json"),
		"README.md":      filepath.Join(dir, "README.md"),
		"LICENSE.txt":    filepath.Join(root, "LICENSE"),
		"media/icon.svg": filepath.Join(dir, "media", "icon.svg"),
	} {
		content, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		files["extension/"+name] = content
	}
	script, err := build.Node(filepath.Join(dir, "src", "extension.ts"))
	if err != nil {
		return nil, err
	}
	files["extension/extension.js"] = script
	style, err := os.ReadFile(filepath.Join(root, "web", "src", "style.css"))
	if err != nil {
		return nil, err
	}
	if files["extension/page/theme.css"], err = theme(string(style)); err != nil {
		return nil, err
	}
	page, err := build.Files(filepath.Join(root, "web"))
	if err != nil {
		return nil, err
	}
	for name, content := range page {
		files["extension/page/"+name] = content
	}
	return files, nil
}

// xml returns the manifest of the package, as the format of Visual Studio's packages has it. platform is "" for all
// systems.
func (m manifest) xml(platform string) ([]byte, error) {
	type property struct {
		ID    string `xml:"Id,attr"`
		Value string `xml:"Value,attr"`
	}
	type asset struct {
		Type        string `xml:"Type,attr"`
		Path        string `xml:"Path,attr"`
		Addressable bool   `xml:"Addressable,attr"`
	}
	type identity struct {
		Language  string `xml:"Language,attr"`
		ID        string `xml:"Id,attr"`
		Version   string `xml:"Version,attr"`
		Publisher string `xml:"Publisher,attr"`
		Platform  string `xml:"TargetPlatform,attr,omitempty"`
	}
	type target struct {
		ID string `xml:"Id,attr"`
	}
	type document struct {
		XMLName     xml.Name   `xml:"http://schemas.microsoft.com/developer/vsx-schema/2011 PackageManifest"`
		Version     string     `xml:"Version,attr"`
		Identity    identity   `xml:"Metadata>Identity"`
		DisplayName string     `xml:"Metadata>DisplayName"`
		Description string     `xml:"Metadata>Description"`
		Categories  string     `xml:"Metadata>Categories"`
		Properties  []property `xml:"Metadata>Properties>Property"`
		License     string     `xml:"Metadata>License"`
		Target      target     `xml:"Installation>InstallationTarget"`
		Needs       struct{}   `xml:"Dependencies"`
		Assets      []asset    `xml:"Assets>Asset"`
	}
	content, err := xml.MarshalIndent(document{
		Version:     "2.0.0",
		Identity:    identity{"en-US", m.Name, m.Version, m.Publisher, platform},
		DisplayName: m.DisplayName, Description: m.Description, Categories: strings.Join(m.Categories, ","),
		Properties: []property{
			{"Microsoft.VisualStudio.Code.Engine", m.Engines.VSCode},
			{"Microsoft.VisualStudio.Code.ExtensionKind", "workspace"},
		},
		License: "extension/LICENSE.txt",
		Target:  target{"Microsoft.VisualStudio.Code"},
		Assets: []asset{
			{"Microsoft.VisualStudio.Code.Manifest", "extension/package.json", true},
			{"Microsoft.VisualStudio.Services.Content.Details", "extension/README.md", true},
			{"Microsoft.VisualStudio.Services.Content.License", "extension/LICENSE.txt", true},
		},
	}, "", "\t")
	return append([]byte(xml.Header), content...), err
}

// contentTypes returns the list of file types that each package of this format has.
func contentTypes(files map[string][]byte) []byte {
	types := map[string]string{
		".css": "text/css", ".html": "text/html", ".js": "application/javascript", ".json": "application/json",
		".md": "text/markdown", ".svg": "image/svg+xml", ".txt": "text/plain", ".vsixmanifest": "text/xml",
	}
	used := map[string]bool{}
	var bare []string // files without an extension have entries of their own
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == "" {
			bare = append(bare, name)
			continue
		}
		used[path.Ext(name)] = true
	}
	b := bytes.NewBufferString(xml.Header + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`)
	for _, ext := range slices.Sorted(maps.Keys(used)) {
		kind := types[ext]
		if kind == "" {
			kind = "application/octet-stream"
		}
		fmt.Fprintf(b, `<Default Extension="%s" ContentType="%s"/>`, ext, kind)
	}
	for _, name := range bare {
		fmt.Fprintf(b, `<Override PartName="/%s" ContentType="application/octet-stream"/>`, name)
	}
	b.WriteString("</Types>\n")
	return b.Bytes()
}

// archive returns a zip file. Its entries are sorted and have the same time.
func archive(files map[string][]byte) ([]byte, error) {
	oldest := time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC) // the first time that a zip file can express
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: oldest}
		header.SetMode(0o644)
		if strings.HasPrefix(name, binFolder+"appserver") {
			header.SetMode(0o755)
		}
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
