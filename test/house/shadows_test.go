package house

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHouseShadowedMethods finds methods that take the place of a method of an embedded type, so that a reader who
// follows a call can miss them. Such a method says in its comment that it overrides the other one, and why.
func TestHouseShadowedMethods(t *testing.T) {
	for _, p := range loadHouse(t) {
		pkg := strings.TrimPrefix(p.PkgPath, houseModule+"/")
		if testSupport[pkg] != "" || strings.HasPrefix(pkg, "test/") {
			continue
		}
		for _, finding := range findShadows(p.Fset, p.Syntax, p.TypesInfo) {
			t.Error(pkg + "/" + finding)
		}
	}
}

// findShadows finds the methods of a package that have the name of a method of a field that their type embeds. The word
// "overrides" in the comment of the method or of its type permits it.
func findShadows(fset *token.FileSet, files []*ast.File, info *gotypes.Info) (findings []string) {
	overriding := overridingTypes(files)
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || strings.Contains(f.Doc.Text(), "overrides") {
				continue
			}
			method := info.Defs[f.Name].(*gotypes.Func)
			receiver := receiverOf(method)
			if of := shadowed(method, receiver); of != "" && !overriding[receiver.Obj().Name()] {
				at := fset.Position(f.Pos())
				findings = append(findings, fmt.Sprintf("%s:%d: %s shadows the method of the embedded %s: name the field, "+
					"or say in the comment that the method overrides it", at.Filename[strings.LastIndex(at.Filename, "/")+1:],
					at.Line, f.Name.Name, of))
			}
		}
	}
	return findings
}

// overridingTypes returns the names of the types whose comment has the word "overrides".
func overridingTypes(files []*ast.File) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if of, ok := spec.(*ast.TypeSpec); ok && strings.Contains(group.Doc.Text()+of.Doc.Text(), "overrides") {
					names[of.Name.Name] = true
				}
			}
		}
	}
	return names
}

// receiverOf returns the type of a method.
func receiverOf(method *gotypes.Func) *gotypes.Named {
	receiver := method.Signature().Recv().Type()
	if pointer, ok := receiver.(*gotypes.Pointer); ok {
		receiver = pointer.Elem()
	}
	return receiver.(*gotypes.Named)
}

// shadowed returns the type of an embedded field that has a method with the name of this method, or "".
func shadowed(method *gotypes.Func, receiver *gotypes.Named) string {
	of, ok := receiver.Underlying().(*gotypes.Struct)
	if !ok {
		return ""
	}
	for i := range of.NumFields() {
		field := of.Field(i)
		if !field.Embedded() {
			continue
		}
		found, _, _ := gotypes.LookupFieldOrMethod(field.Type(), true, method.Pkg(), method.Name())
		if _, isMethod := found.(*gotypes.Func); isMethod {
			return gotypes.TypeString(field.Type(), gotypes.RelativeTo(method.Pkg()))
		}
	}
	return ""
}

// TestShadowedMethodsAreFound checks the rule with one case of each form.
func TestShadowedMethodsAreFound(t *testing.T) {
	const text = `package a
type inner struct{}
func (inner) A() {}
func (*inner) B() {}
type other interface{ C() }
type outer struct { inner; other; named inner }
func (outer) A() {}
func (*outer) B() {}
func (outer) C() {}
// D has no counterpart.
func (outer) D() {}
type deep struct{ *outer }
// A overrides that of outer, because it is deep.
func (deep) A() {}
func (deep) D() {}
// loud overrides A.
type loud struct{ inner }
func (loud) A() {}
type field struct{ one inner }
func (field) A() {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "a.go", text, parser.ParseComments)
	require.NoError(t, err)
	info := &gotypes.Info{Defs: map[*ast.Ident]gotypes.Object{}}
	_, err = (&gotypes.Config{Importer: importer.Default()}).Check("a", fset, []*ast.File{file}, info)
	require.NoError(t, err)
	findings := findShadows(fset, []*ast.File{file}, info)
	require.Len(t, findings, 4)
	for i, want := range []string{"a.go:7: A shadows the method of the embedded inner",
		"a.go:8: B shadows the method of the embedded inner", "a.go:9: C shadows the method of the embedded other",
		"a.go:15: D shadows the method of the embedded *outer"} {
		require.Contains(t, findings[i], want)
	}
}
