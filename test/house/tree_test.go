package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// houseModule is the path of this module.
const houseModule = "appserver"

// testSupport are packages outside of test that only tests import. They count as test code.
var testSupport = map[string]string{
	"platform/fieldtest":              "fills and compares the fields of structs",
	"core/pure/snapshot/snapshottest": "copies values by a snapshot",
	"rollout/faultfs":                 "a file system with injected faults",
	"rollout/store/storetest":         "checks implementations of a store",
	"rollout/fleet/fleettest":         "checks the promises of a driver",
	"rollout/postgres/pgtest":         "starts servers of PostgreSQL",
	"schema/conform":                  "validates messages with the schema files",
}

// houseTree contains the files of the repository by path, and its parsed files of Go and TypeScript. Ignored
// files and Go files in testdata are left out.
type houseTree struct {
	fset    *token.FileSet
	files   map[string][]byte
	sources []*houseSource
	scripts []*script
}

// houseSource is a Go file.
type houseSource struct {
	path string
	text []byte
	fset *token.FileSet
	*ast.File
}

func readHouse(fsys fs.FS) (*houseTree, error) {
	tree := &houseTree{fset: token.NewFileSet(), files: map[string][]byte{}}
	ignored, err := readIgnored(fsys)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || ignored(name)):
			return fs.SkipDir
		case d.IsDir() || name == ".git" || ignored(name):
			return nil
		}
		return tree.add(fsys, name)
	})
	return tree, err
}

// readIgnored returns a function that reports whether .gitignore ignores a path. It supports names
// with *, at any depth or, after a slash, at the top level only.
func readIgnored(fsys fs.FS) (func(name string) bool, error) {
	text, err := fs.ReadFile(fsys, ".gitignore")
	if err != nil {
		return nil, fmt.Errorf("read the patterns of ignored files: %w", err)
	}
	patterns := strings.Fields(string(text))
	return func(name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			rooted := strings.HasPrefix(p, "/")
			match, err := path.Match(strings.Trim(p, "/"), path.Base(name))
			return err == nil && match && (!rooted || !strings.Contains(name, "/"))
		})
	}, nil
}

func (t *houseTree) add(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	t.files[name] = text
	if isScript(name) {
		s, err := parseScript(name, text)
		if err != nil {
			return err
		}
		t.scripts = append(t.scripts, s)
	}
	if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
		return nil
	}
	file, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.sources = append(t.sources, &houseSource{name, text, t.fset, file})
	return nil
}

// product returns the files of the program, without tests and generated files.
func (t *houseTree) product() []*houseSource {
	return slices.DeleteFunc(slices.Clone(t.sources), func(s *houseSource) bool {
		return s.isTest() || ast.IsGenerated(s.File)
	})
}

// packages returns the files that are not _test.go files, by folder.
func (t *houseTree) packages() map[string][]*houseSource {
	packages := map[string][]*houseSource{}
	for _, s := range t.sources {
		if !s.isTestFile() {
			packages[s.pkg()] = append(packages[s.pkg()], s)
		}
	}
	return packages
}

// pkg returns the path of the file's package in the module.
func (s *houseSource) pkg() string { return path.Dir(s.path) }

// isTestFile reports whether only tests build the file.
func (s *houseSource) isTestFile() bool {
	return strings.HasSuffix(s.path, "_test.go") || strings.HasPrefix(s.path, "test/")
}

func (s *houseSource) isTest() bool { return s.isTestFile() || testSupport[s.pkg()] != "" }

func (s *houseSource) lines() int { return bytes.Count(s.text, []byte("\n")) }

// at returns the position of a node as FILE:LINE.
func (s *houseSource) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// span returns the number of lines of a node.
func (s *houseSource) span(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

// imported returns the import paths of the file.
func (s *houseSource) imported() []string {
	var paths []string
	for _, spec := range s.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, name)
		}
	}
	return paths
}

// ours returns the imported packages of this module, by their paths in the module.
func (s *houseSource) ours() []string {
	var packages []string
	for _, name := range s.imported() {
		if folder, ok := strings.CutPrefix(name, houseModule+"/"); ok {
			packages = append(packages, folder)
		}
	}
	return packages
}

func (s *houseSource) functions() []*ast.FuncDecl {
	var list []*ast.FuncDecl
	for _, d := range s.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			list = append(list, f)
		}
	}
	return list
}

// localName returns the name of an imported package in the file, or "" if the file does not import
// it.
func (s *houseSource) localName(imported string) string {
	for i, name := range s.imported() {
		switch {
		case name != imported:
			continue
		case s.Imports[i].Name != nil:
			return s.Imports[i].Name.Name
		}
		return path.Base(imported)
	}
	return ""
}
