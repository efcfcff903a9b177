package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// source has the parts of the Go sources that reflection does not give.
type source struct {
	// docs are doc comments by "Type" and "Type.Field".
	docs map[string]string
	// words are the values of typed string constants, by type, in order.
	words map[string][]string
}

var errNoSources = errors.New("no Go files; run from the root of the repository, or name the directory with -protocol")

func readSource(dir string) (*source, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	src := &source{docs: map[string]string{}, words: map[string][]string{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		src.addFile(file)
	}
	if len(src.docs) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoSources)
	}
	return src, nil
}

func (s *source) addFile(file *ast.File) {
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.addType(spec, firstText(spec.Doc, group.Doc))
			case *ast.ValueSpec:
				if group.Tok == token.CONST {
					s.addConstants(spec)
				}
			}
		}
	}
}

func (s *source) addType(spec *ast.TypeSpec, doc string) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		s.docs[spec.Name.Name] = doc
		return
	}
	members := membersOf(structure)
	name, rest, _ := strings.Cut(doc, " ") // a type can have the name of its field
	s.docs[spec.Name.Name] = strings.TrimSpace(name + " " + withMembers(rest, members))
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			s.docs[spec.Name.Name+"."+name.Name] = withMembers(firstText(field.Doc, field.Comment), members)
		}
	}
}

// membersOf returns the names of the members in JSON by the names of their fields.
func membersOf(structure *ast.StructType) map[string]string {
	members := map[string]string{}
	for _, field := range structure.Fields.List {
		if field.Tag == nil {
			continue
		}
		text, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			continue
		}
		member, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		for _, name := range field.Names {
			if member != "" && member != "-" {
				members[name.Name] = member
			}
		}
	}
	return members
}

// exportedName matches the words that can be names of exported fields.
var exportedName = regexp.MustCompile(`\b[A-Z]\w*\b`)

// withMembers replaces the names of fields by the names of their members, which readers of a schema know.
func withMembers(doc string, members map[string]string) string {
	return exportedName.ReplaceAllStringFunc(doc, func(word string) string { return cmp.Or(members[word], word) })
}

func (s *source) addConstants(spec *ast.ValueSpec) {
	typeName, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, value := range spec.Values {
		if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if word, err := strconv.Unquote(literal.Value); err == nil {
				s.words[typeName.Name] = append(s.words[typeName.Name], word)
			}
		}
	}
}

// firstText returns the first comment that is there, each paragraph on one line.
func firstText(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := g.Text(); text != "" {
			return unwrap(text)
		}
	}
	return ""
}

func unwrap(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
