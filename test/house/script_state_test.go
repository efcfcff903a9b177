package house

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"appserver/test/apptest"
)

// allowedScriptVariables returns the variables of modules, as FILE NAME, that can be assigned, with the reason.
func allowedScriptVariables() map[string]string {
	return map[string]string{
		"editors/vscode/src/extension.ts app": "the editor calls one function of the module at the start and one at the end",
	}
}

// findModuleState finds state that belongs to no object and lives as long as the page: a variable of a module that
// can be assigned, an empty collection, or, outside of the stores, a signal. A static member of a class is a
// variable of its module.
func findModuleState(t *houseTree) (findings []string) {
	seen := map[string]bool{}
	for _, s := range t.productScripts() {
		for _, statement := range s.program.Body {
			for _, b := range moduleBindings(s, statement) {
				kind := moduleState(s, statement, b)
				seen[s.path+" "+bindingName(b)] = kind != ""
				if kind != "" && allowedScriptVariables()[s.path+" "+bindingName(b)] == "" {
					findings = append(findings, moduleStateFinding(s, b, bindingName(b), kind+" of a module"))
				}
			}
		}
		inspectScript(s.program, func(n ast.Node) bool {
			if field, ok := n.(*ast.FieldDefinition); ok && field.Static {
				findings = append(findings, moduleStateFinding(s, field, keyOf(field.Key), "a static member"))
			}
			return true
		})
	}
	for _, key := range apptest.SortedKeys(allowedScriptVariables()) {
		if file, _, _ := strings.Cut(key, " "); t.has(file) && !seen[key] {
			findings = append(findings, fmt.Sprintf("allowedScriptVariables names %s, which is no variable: remove the row", key))
		}
	}
	return findings
}

func moduleStateFinding(s *script, n ast.Node, name, kind string) string {
	return fmt.Sprintf("%s: %s is %s: make it a member of an object that a store or a component owns", s.at(n), name, kind)
}

// moduleBindings returns the variables that a statement of a module declares. esbuild declares variables of its own
// with var.
func moduleBindings(s *script, statement ast.Statement) []*ast.Binding {
	switch statement := statement.(type) {
	case *ast.LexicalDeclaration:
		return statement.List
	case *ast.VariableStatement:
		return slices.DeleteFunc(slices.Clone(statement.List), func(b *ast.Binding) bool {
			return !regexp.MustCompile(`(?m)^(?:export )?var ` + regexp.QuoteMeta(bindingName(b)) + `\b`).Match(s.text)
		})
	}
	return nil
}

func bindingName(b *ast.Binding) string {
	if id, ok := b.Target.(*ast.Identifier); ok {
		return id.Name.String()
	}
	return ""
}

// moduleState describes the state that a variable of a module is, or returns "".
func moduleState(s *script, statement ast.Statement, b *ast.Binding) string {
	declared, lexical := statement.(*ast.LexicalDeclaration)
	switch {
	case !lexical || declared.Token == token.LET:
		return "a variable"
	case isEmptyCollection(b.Initializer):
		return "a collection"
	case path.Dir(s.path) != "web/src/store" && isSignal(b.Initializer):
		return "a signal"
	}
	return ""
}

// isEmptyCollection reports whether an expression makes a collection that only later statements can fill. A collection
// that is made of a literal is a table.
func isEmptyCollection(e ast.Expression) bool {
	made, ok := e.(*ast.NewExpression)
	if !ok || len(made.ArgumentList) > 0 {
		return false
	}
	id, ok := made.Callee.(*ast.Identifier)
	return ok && slices.Contains([]string{"Map", "Set", "WeakMap", "WeakSet"}, id.Name.String())
}

func isSignal(e ast.Expression) bool {
	call, ok := e.(*ast.CallExpression)
	return ok && slices.Contains([]string{"signal", "computed"}, calleeName(call))
}

// findStateInRender finds changes of state while a component or a hook renders. Rendering must not change what it
// shows: the page can render at any time, and more than once.
//
// A component is a function whose name begins with a capital letter, a hook one whose name begins with use and a
// capital letter. Rendering is their body without the functions in it, because those are handlers and effects.
// Functions that run at once are part of it: callbacks of calls, such as map and useMemo, but not of other hooks.
// There, these are findings:
//   - an assignment to a member, such as signal.value or ref.current, or to a variable of another function or module
//   - a call of a function that useState returned
//   - a call of a function that changes its receiver, unless that is a new local value, or that starts an effect
func findStateInRender(t *houseTree) (findings []string) {
	for _, s := range t.productScripts() {
		for _, f := range s.functions() {
			if isRender(f.name) {
				findings = append(findings, newRender(s, f).check()...)
			}
		}
	}
	return findings
}

// isRender reports whether a function with this name is a component or a hook.
func isRender(name string) bool {
	if rest, ok := strings.CutPrefix(name, "use"); ok {
		name = rest
	}
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first)
}

// effectNames returns functions and methods that act on the page, the server or the time.
func effectNames() []string {
	return []string{"addEventListener", "removeEventListener", "call", "dispatchEvent", "effect", "fetch", "focus", "observe",
		"postMessage", "queueMicrotask", "removeItem", "requestAnimationFrame", "setInterval", "setItem", "setTimeout", "subscribe"}
}

// mutatorNames returns methods that change a collection.
func mutatorNames() []string {
	return []string{"add", "clear", "delete", "fill", "pop", "push", "reverse", "set", "shift", "sort", "splice", "unshift"}
}

// render checks the code that runs while one function renders.
type render struct {
	script   *script
	function scriptFunction
	// locals are the variables that the function declares, fresh those with a new value, and setters those that change
	// the state of the component.
	locals, fresh, setters map[string]bool
	findings               []string
}

// newRender collects the variables of a function. Blocks are not distinguished, because the house has no two
// variables of one name with different origins in a function.
func newRender(s *script, f scriptFunction) *render {
	r := &render{script: s, function: f, locals: map[string]bool{}, fresh: map[string]bool{}, setters: map[string]bool{}}
	r.walk(f.body, func(n ast.Node) {
		b, ok := n.(*ast.Binding)
		if !ok {
			return
		}
		names := boundNames(b.Target)
		for _, name := range names {
			r.locals[name] = true
		}
		if isFresh(b.Initializer) {
			r.fresh[names[0]] = true
		}
		if call, ok := b.Initializer.(*ast.CallExpression); ok && len(names) == 2 &&
			slices.Contains([]string{"useState", "useReducer"}, calleeName(call)) {
			r.setters[names[1]] = true
		}
	})
	return r
}

// isFresh reports whether an expression makes a new value, which nothing else refers to.
func isFresh(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.ArrayLiteral, *ast.ObjectLiteral, *ast.NewExpression:
		return true
	case *ast.ConditionalExpression:
		return isFresh(e.Consequent) && isFresh(e.Alternate)
	}
	return false
}

// boundNames returns the variables of a target such as name, [a, b] or {a, b: c}.
func boundNames(target ast.Node) (names []string) {
	inspectScript(target, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Identifier:
			names = append(names, n.Name.String())
		case *ast.PropertyShort:
			names = append(names, n.Name.Name.String())
		case *ast.PropertyKeyed:
			names = append(names, boundNames(n.Value)...)
			return false
		}
		return true
	})
	return names
}

// walk visits the code that runs while the function renders.
func (r *render) walk(body ast.Node, visit func(ast.Node)) {
	inspectScript(body, func(n ast.Node) bool {
		visit(n)
		switch n := n.(type) {
		case *ast.CallExpression:
			if !startsLater(calleeName(n)) {
				for _, argument := range n.ArgumentList {
					r.walkCallback(argument, visit)
				}
			}
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
			return false
		}
		return true
	})
}

// walkCallback visits the body of a function that a call runs at once.
func (r *render) walkCallback(argument ast.Node, visit func(ast.Node)) {
	if f, ok := r.script.function(argument, ""); ok {
		inspectScript(f.params, func(n ast.Node) bool {
			visit(n)
			return true
		})
		r.walk(f.body, visit)
	}
}

// startsLater reports whether a call runs its callbacks after rendering: hooks do, but those that compute a value.
func startsLater(name string) bool {
	return strings.HasPrefix(name, "use") && isRender(name) &&
		!slices.Contains([]string{"useMemo", "useState", "useReducer", "useComputed"}, name)
}

func (r *render) check() []string {
	r.walk(r.function.body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignExpression:
			r.checkTarget(n, n.Left)
		case *ast.UnaryExpression:
			if n.Operator == token.INCREMENT || n.Operator == token.DECREMENT || n.Operator == token.DELETE {
				r.checkTarget(n, n.Operand)
			}
		case *ast.CallExpression:
			r.checkCall(n)
		}
	})
	return r.findings
}

func (r *render) checkTarget(n ast.Node, target ast.Expression) {
	switch target := target.(type) {
	case *ast.Identifier:
		if !r.locals[target.Name.String()] {
			r.find(n, "assigns "+target.Name.String())
		}
	case *ast.DotExpression:
		r.find(n, "assigns the member "+target.Identifier.Name.String())
	case *ast.BracketExpression:
		if root := rootOf(target); root == nil || !r.fresh[root.Name.String()] {
			r.find(n, "assigns an element")
		}
	}
}

func (r *render) checkCall(call *ast.CallExpression) {
	name := calleeName(call)
	switch callee := unwrapChain(call.Callee).(type) {
	case *ast.Identifier:
		if r.setters[name] {
			r.find(call, "calls "+name)
		}
	case *ast.DotExpression:
		root := rootOf(callee.Left)
		if slices.Contains(mutatorNames(), name) && root != nil && !r.fresh[root.Name.String()] {
			r.find(call, fmt.Sprintf("calls %s of %s", name, root.Name))
		}
	}
	if slices.Contains(effectNames(), name) {
		r.find(call, "calls "+name)
	}
}

func (r *render) find(n ast.Node, what string) {
	r.findings = append(r.findings, fmt.Sprintf("%s: %s %s while it renders: do it in a handler or an effect",
		r.script.at(n), r.function.name, what))
}
