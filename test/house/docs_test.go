package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"appserver/test/apptest"
)

// minDocumented is the minimum share of exported identifiers with a doc comment.
const minDocumented = 0.95

// findPackageDocs requires a doc comment for each package, with the beginning that go doc requires.
func findPackageDocs(t *houseTree) (findings []string) {
	packages := t.packages()
	for _, pkg := range apptest.SortedKeys(packages) {
		name := packages[pkg][0].Name.Name
		want := "Package " + name + " "
		if name == "main" {
			want = "Command "
		}
		if doc := packageDoc(packages[pkg]); !strings.HasPrefix(doc, want) {
			findings = append(findings,
				fmt.Sprintf("package %s has no doc comment that begins with %q: write its contract in doc.go", pkg, want))
		}
	}
	return findings
}

// packageDoc returns the package comments of all files; at most one should not be empty.
func packageDoc(files []*houseSource) string {
	var doc strings.Builder
	for _, s := range files {
		doc.WriteString(s.Doc.Text())
	}
	return doc.String()
}

// exported is an exported identifier.
type exported struct {
	name, at   string
	documented bool
}

func findExportedDocs(t *houseTree) (findings []string) {
	all, bare := exportedNames(t)
	if len(all) == 0 || float64(len(all)-len(bare)) >= minDocumented*float64(len(all)) {
		return nil
	}
	for _, e := range bare {
		findings = append(findings, fmt.Sprintf("%s: %s is exported and has no doc comment", e.at, e.name))
	}
	return append(findings, fmt.Sprintf("%d of %d exported identifiers have no doc comment; at most %.0f %% may",
		len(bare), len(all), 100*(1-minDocumented)))
}

// exportedNames returns all exported identifiers of the product, and the undocumented ones. The
// comment of a group counts for its members.
func exportedNames(t *houseTree) (all, bare []exported) {
	for _, s := range t.product() {
		for _, d := range s.Decls {
			all = append(all, exportedOf(s, d)...)
		}
	}
	for _, e := range all {
		if !e.documented {
			bare = append(bare, e)
		}
	}
	return all, bare
}

func exportedOf(s *houseSource, d ast.Decl) []exported {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return []exported{{strings.TrimPrefix(receiver(d)+"."+d.Name.Name, "."), s.at(d), d.Doc != nil}}
		}
	case *ast.GenDecl:
		if d.Tok != token.IMPORT {
			return exportedSpecs(s, d)
		}
	}
	return nil
}

func exportedSpecs(s *houseSource, d *ast.GenDecl) (list []exported) {
	for _, spec := range d.Specs {
		names, documented := specNames(spec)
		for _, name := range names {
			if name.IsExported() {
				list = append(list, exported{name.Name, s.at(name), documented || d.Doc != nil})
			}
		}
	}
	return list
}

func specNames(spec ast.Spec) (names []*ast.Ident, documented bool) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}, spec.Doc != nil || spec.Comment != nil
	case *ast.ValueSpec:
		return spec.Names, spec.Doc != nil || spec.Comment != nil
	}
	return nil, false
}

// receiver returns the name of a method's type, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	return exprName(t)
}
