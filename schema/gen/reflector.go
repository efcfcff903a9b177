package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"appserver/protocol"
)

// reflector turns Go types into nodes. Named types become definitions, made once.
type reflector struct {
	src         *source
	unions      map[reflect.Type]protocol.Union
	definitions map[string]*Node
	shapes      map[reflect.Type]shape
	members     map[string]shape
	// problems are types that cannot be described.
	problems []error
	// sent is set while types are reflected that clients send. What is found then
	// may leave members out; so it must come before what the server sends.
	sent bool
}

func newReflector(src *source, unions []protocol.Union) *reflector {
	r := &reflector{
		src: src, shapes: shapes(), members: members(),
		unions: map[reflect.Type]protocol.Union{}, definitions: map[string]*Node{},
	}
	for _, u := range unions {
		r.unions[u.Type] = u
	}
	return r
}

// of returns the node of a type: a reference if the type has a definition.
func (r *reflector) of(t reflect.Type) *Node {
	if t == reflect.TypeFor[json.RawMessage]() {
		return anything()
	}
	if shape, ok := r.shapes[t]; ok {
		return r.define(typeName(t), r.src.docs[t.Name()], func() *Node { return shape(r) })
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.named(t, func() *Node { return nullable(r.of(t.Elem())) })
	case reflect.Slice:
		return r.named(t, func() *Node { return list(r.of(t.Elem())) })
	case reflect.Map:
		return &Node{Type: Kinds{"object"}, Values: r.of(t.Elem())}
	case reflect.Struct:
		return r.structure(t)
	case reflect.String:
		return r.text(t)
	case reflect.Bool:
		return kind("boolean")
	case reflect.Interface:
		return anything()
	}
	return r.number(t)
}

// named returns a definition if the type has a name.
func (r *reflector) named(t reflect.Type, build func() *Node) *Node {
	if t.Name() == "" {
		return build()
	}
	return r.define(typeName(t), r.src.docs[t.Name()], build)
}

// define makes a definition, unless it is there, and refers to it.
func (r *reflector) define(name, doc string, build func() *Node) *Node {
	if _, ok := r.definitions[name]; !ok {
		r.definitions[name] = nil // ends the recursion of types that hold themselves
		r.definitions[name] = described(build(), doc)
	}
	return ref(name)
}

func (r *reflector) text(t reflect.Type) *Node {
	if known := r.src.words[t.Name()]; len(known) > 0 {
		return r.define(typeName(t), r.src.docs[t.Name()], func() *Node { return words(known...) })
	}
	return kind("string")
}

func (r *reflector) structure(t reflect.Type) *Node {
	return r.define(typeName(t), r.src.docs[t.Name()], func() *Node {
		if u, ok := r.unions[t]; ok {
			return r.union(u)
		}
		if t.Implements(reflect.TypeFor[json.Marshaler]()) {
			r.problems = append(r.problems, fmt.Errorf("%s has JSON methods of its own: add it to Unions or to shapes.go", t))
		}
		n := kind("object")
		r.addFields(n, t)
		return n
	})
}

// union returns one of its variants. Members of the union's own belong to each.
func (r *reflector) union(u protocol.Union) *Node {
	n := &Node{}
	var tags []string
	for _, v := range u.Variants {
		tags = append(tags, v.Tag)
		n.AnyOf = append(n.AnyOf, r.define(typeName(v.Type), r.src.docs[v.Type.Name()], func() *Node {
			variant := object(Property{u.Member, words(v.Tag)})
			r.addFields(variant, v.Type)
			r.addFields(variant, u.Type)
			return variant
		}))
	}
	if isOpen(u.Type) && !r.sent {
		n.AnyOf = append(n.AnyOf, other(u.Member, tags))
	}
	return n
}

// isOpen reports whether a union keeps unknown variants. Clients cannot send them.
func isOpen(union reflect.Type) bool {
	return reflect.TypeFor[*protocol.Unknown]().Implements(union.Field(0).Type)
}

// other returns any variant but those with the tags.
func other(member string, tags []string) *Node {
	tag := kind("string")
	tag.Not = words(tags...)
	return described(object(Property{member, tag}), "A variant of another version, unchanged.")
}

func (r *reflector) addFields(n *Node, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			r.addFields(n, f.Type)
		case f.IsExported() && !f.Anonymous:
			r.addMember(n, t, f)
		}
	}
}

func (r *reflector) addMember(n *Node, t reflect.Type, f reflect.StructField) {
	name, omitempty := tagOf(f)
	key := t.Name() + "." + name
	shape, hasShape := r.members[key]
	if allowed := strings.Fields(f.Tag.Get("oneof")); !hasShape && len(allowed) > 0 {
		shape = fixed(words(allowed...))
	}
	value := r.value(shape, f.Type, omitempty)
	fallback, hasDefault := f.Tag.Lookup("default")
	optional := omitempty || (r.sent && hasDefault)
	if r.sent && omitempty || slices.Contains(nullableLists, key) {
		value = nullable(value)
	}
	value = described(value, r.src.docs[t.Name()+"."+f.Name])
	if r.sent && hasDefault {
		value = withDefault(value, defaultOf(f.Type, fallback))
	}
	n.Properties = append(n.Properties, Property{name, value})
	if !optional {
		n.Required = append(n.Required, name)
	}
}

// value returns the node of a member's values. A given shape takes precedence. A pointer that the
// server omits if it is nil is never null.
func (r *reflector) value(shape shape, t reflect.Type, omitempty bool) *Node {
	switch {
	case t.Kind() == reflect.Pointer:
		value := r.value(shape, t.Elem(), omitempty)
		if omitempty && !r.sent {
			return value
		}
		return nullable(value)
	case shape == nil:
		return r.of(t)
	case t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]():
		return list(shape(r))
	}
	return shape(r)
}

// defaultOf returns the value of a default tag: the text itself, or the JSON in it.
func defaultOf(t reflect.Type, text string) any {
	if t.Kind() == reflect.String {
		return text
	}
	return json.RawMessage(text)
}

// tagOf returns the name of a field in JSON. Fields without a tag belong to unions, which encode them
// in lower case.
func tagOf(f reflect.StructField) (name string, omitempty bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = string(unicode.ToLower(rune(f.Name[0]))) + f.Name[1:]
	}
	return name, strings.Contains(options, "omitempty")
}

func typeName(t reflect.Type) string {
	if name, ok := names[t]; ok {
		return name
	}
	return t.Name()
}

func (r *reflector) number(t reflect.Type) *Node {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return kind("number")
	case reflect.Int, reflect.Int64:
		return &Node{Type: Kinds{"integer"}, Format: "int64"}
	case reflect.Int32:
		return &Node{Type: Kinds{"integer"}, Format: "int32"}
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Node{Type: Kinds{"integer"}, Format: t.Kind().String(), Minimum: new(int)}
	}
	r.problems = append(r.problems, fmt.Errorf("%s has no schema: use another type, or teach reflector.number", t))
	return anything()
}
