package house

import (
	"bytes"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
)

// scriptFolders returns the folders of the TypeScript that people write. Other files are generated, or libraries.
func scriptFolders() []string {
	return []string{"web/src", "web/test", "editors/vscode/src", "editors/vscode/test"}
}

// script is a TypeScript file. Files with declarations only, named .d.ts, are no scripts.
type script struct {
	path string
	text []byte
	// program is the file as JavaScript. esbuild removes the types and makes JSX function calls. The positions of its
	// nodes lead to the file by a source map. Imports are calls of require.
	program *ast.Program
	// lines has each line of the file, without its end.
	lines [][]byte
}

// isScript reports whether the rules for TypeScript apply to a file.
func isScript(name string) bool {
	ext := path.Ext(name)
	return (ext == ".ts" || ext == ".tsx") && !strings.HasSuffix(name, ".d.ts") &&
		slices.ContainsFunc(scriptFolders(), func(folder string) bool { return strings.HasPrefix(name, folder+"/") })
}

// parseScript parses a TypeScript file with esbuild and a parser of JavaScript.
func parseScript(name string, text []byte) (*script, error) {
	loader := api.LoaderTS
	if path.Ext(name) == ".tsx" {
		loader = api.LoaderTSX
	}
	result := api.Transform(string(text), api.TransformOptions{
		Loader: loader, Format: api.FormatCommonJS, Target: api.ES2022, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", TsconfigRaw: "{}",
		Sourcemap: api.SourceMapInline, Sourcefile: name,
		Supported: map[string]bool{"dynamic-import": false}, // import() becomes a call of require
	})
	if len(result.Errors) > 0 {
		e := result.Errors[0]
		return nil, fmt.Errorf("%s:%d: %s", name, e.Location.Line, e.Text)
	}
	program, err := parser.ParseFile(nil, name, result.Code, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: the parser of JavaScript rejects it after esbuild: %w", name, err)
	}
	return &script{name, text, program, bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))}, nil
}

// isTest reports whether a script is no part of the page or of the extension.
func (s *script) isTest() bool { return strings.Contains(s.path, "/test/") }

// line returns the line in the file of a position in the program.
func (s *script) line(at file.Idx) int {
	return s.program.File.Position(int(at) - s.program.File.Base()).Line
}

// at returns the position of a node as FILE:LINE.
func (s *script) at(n ast.Node) string { return fmt.Sprintf("%s:%d", s.path, s.line(n.Idx0())) }

// productScripts returns the scripts of the page and of the extension, without their tests.
func (t *houseTree) productScripts() []*script {
	return slices.DeleteFunc(slices.Clone(t.scripts), (*script).isTest)
}

// inspectScript calls visit for a node and, if visit returns true, for the nodes in it, in the order of the file.
func inspectScript(n ast.Node, visit func(ast.Node) bool) { inspectValue(reflect.ValueOf(n), visit) }

func inspectValue(v reflect.Value, visit func(ast.Node) bool) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			inspectValue(v.Elem(), visit)
		}
	case reflect.Pointer:
		if n, ok := v.Interface().(ast.Node); ok && !v.IsNil() && visit(n) {
			inspectValue(v.Elem(), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// The list of declarations repeats nodes of the body.
			if name := v.Type().Field(i).Name; name != "DeclarationList" && name != "File" {
				inspectValue(v.Field(i), visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			inspectValue(v.Index(i), visit)
		}
	}
}

// scriptFunction is a function of any form: a declaration, a method, an expression or an arrow function.
type scriptFunction struct {
	name        string
	node        ast.Node
	first, last int
	params      *ast.ParameterList
	body        ast.Node
}

// functions returns all functions of a script, nested ones as well. A function expression has the name of the variable
// or the member that it is the value of, also if a call such as memo wraps it.
func (s *script) functions() (list []scriptFunction) {
	names := map[ast.Node]string{}
	inspectScript(s.program, func(n ast.Node) bool {
		nameValues(n, names)
		if f, ok := s.function(n, names[n]); ok {
			list = append(list, f)
		}
		return true
	})
	return list
}

// nameValues adds the names that a node gives to functions.
func nameValues(n ast.Node, names map[ast.Node]string) {
	switch n := n.(type) {
	case *ast.Binding:
		if id, ok := n.Target.(*ast.Identifier); ok && n.Initializer != nil {
			names[wrapped(n.Initializer)] = id.Name.String()
		}
	case *ast.MethodDefinition:
		names[n.Body] = keyOf(n.Key)
	case *ast.PropertyKeyed:
		names[n.Value] = keyOf(n.Key)
	case *ast.FieldDefinition:
		if n.Initializer != nil {
			names[n.Initializer] = keyOf(n.Key)
		}
	}
}

// wrapped returns the first argument of a call if that is a function, or the expression itself.
func wrapped(e ast.Expression) ast.Node {
	if call, ok := e.(*ast.CallExpression); ok && len(call.ArgumentList) > 0 && isFunction(call.ArgumentList[0]) {
		return call.ArgumentList[0]
	}
	return e
}

func isFunction(n ast.Node) bool {
	switch n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

func keyOf(key ast.Expression) string {
	switch key := key.(type) {
	case *ast.Identifier:
		return key.Name.String()
	case *ast.PrivateIdentifier:
		return "#" + key.Name.String()
	case *ast.StringLiteral:
		return key.Value.String()
	}
	return ""
}

// function returns a node as a function. The last line of an arrow function without braces is that of the last node
// in it.
func (s *script) function(n ast.Node, name string) (scriptFunction, bool) {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		if n.Name != nil {
			name = n.Name.Name.String()
		}
		return scriptFunction{name, n, s.line(n.Idx0()), s.line(n.Body.RightBrace), n.ParameterList, n.Body}, true
	case *ast.ArrowFunctionLiteral:
		last := s.line(n.Body.Idx1() - 1)
		if block, ok := n.Body.(*ast.BlockStatement); ok {
			last = s.line(block.RightBrace)
		}
		return scriptFunction{name, n, s.line(n.Start), last, n.ParameterList, n.Body}, true
	}
	return scriptFunction{}, false
}

// calleeName returns the name of a called function, or of the method for a call of a method. esbuild calls imported
// functions as (0, module.name)().
func calleeName(call *ast.CallExpression) string {
	callee := call.Callee
	if sequence, ok := callee.(*ast.SequenceExpression); ok {
		callee = sequence.Sequence[len(sequence.Sequence)-1]
	}
	switch callee := unwrapChain(callee).(type) {
	case *ast.Identifier:
		return callee.Name.String()
	case *ast.DotExpression:
		return callee.Identifier.Name.String()
	}
	return ""
}

// unwrapChain returns the expression in optional links such as a?.b.
func unwrapChain(e ast.Expression) ast.Expression {
	for {
		switch inner := e.(type) {
		case *ast.OptionalChain:
			e = inner.Expression
		case *ast.Optional:
			e = inner.Expression
		default:
			return e
		}
	}
}

// rootOf returns the variable at the start of a chain of members, or nil.
func rootOf(e ast.Expression) *ast.Identifier {
	for {
		switch inner := unwrapChain(e).(type) {
		case *ast.DotExpression:
			e = inner.Left
		case *ast.BracketExpression:
			e = inner.Left
		case *ast.Identifier:
			return inner
		default:
			return nil
		}
	}
}

// scriptImport is an import of a file or library by a script.
type scriptImport struct {
	line int
	name string
}

// staticImport matches the end of an import statement, or of an export from another file. Imports of types count: a
// file that names a type of another cannot be read without it.
var staticImport = regexp.MustCompile(`(?m)^(?:import|export)\b(?:[^;"'` + "`" + `()=]*?\bfrom)?\s*"([^"]+)"`)

// imports returns the imports of a script: statements, which begin in the first column, and calls of import().
func (s *script) imports() (list []scriptImport) {
	seen := map[string]bool{}
	for _, m := range staticImport.FindAllSubmatchIndex(s.text, -1) {
		name := string(s.text[m[2]:m[3]])
		seen[name] = true
		list = append(list, scriptImport{1 + bytes.Count(s.text[:m[2]], []byte("\n")), name})
	}
	inspectScript(s.program, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpression); ok && calleeName(call) == "require" && len(call.ArgumentList) == 1 {
			if name, ok := call.ArgumentList[0].(*ast.StringLiteral); ok && !seen[name.Value.String()] {
				list = append(list, scriptImport{s.line(call.LeftParenthesis), name.Value.String()})
			}
		}
		return true
	})
	return list
}

// file returns the path in the repository of an import, or "" for a library.
func (i scriptImport) file(s *script) string {
	if !strings.HasPrefix(i.name, ".") {
		return ""
	}
	return path.Join(path.Dir(s.path), i.name)
}
