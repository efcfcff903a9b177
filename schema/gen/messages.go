package main

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"appserver/protocol"
)

// messages are all definitions, and which of them are messages or parts of
// messages that a program looks up by name.
type messages struct {
	definitions map[string]*Node
	roots       []string
	methods     []methodNames
}

// methodNames are the definitions that belong to a method.
type methodNames struct{ method, params, result, doc string }

// collect makes the definitions of everything in the tables of protocol. What
// clients send comes first, see reflector.sent.
func collect(src *source) (*messages, error) {
	r := newReflector(src, protocol.Unions())
	m := &messages{definitions: r.definitions}
	r.sent = true
	for _, method := range protocol.Methods() {
		r.of(method.Params)
		r.markExperimental(method)
		m.methods = append(m.methods, methodNames{method.Name, typeName(method.Params), resultName(method), method.Doc})
	}
	for _, request := range protocol.ServerRequests() {
		r.of(request.Result)
	}
	r.sent = false
	m.addResults(r)
	m.addNotifications(r)
	m.addServerRequests(r)
	m.addErrors(r)
	return m, errors.Join(r.problems...)
}

func (m *messages) addResults(r *reflector) {
	var requests []*Node
	for i, method := range protocol.Methods() {
		names := m.methods[i]
		if method.Result == reflect.TypeFor[protocol.Empty]() {
			r.define(names.result, "The result of "+method.Name+".", func() *Node { return kind("object") })
		} else {
			r.of(method.Result)
		}
		m.roots = append(m.roots, names.params)
		if !slices.Contains(m.roots, names.result) { // two methods can answer alike
			m.roots = append(m.roots, names.result)
		}
		requests = append(requests, r.request(method.Name, names.params, method.Doc))
	}
	m.addRoot(r, "ClientRequest", "A request of the client.", &Node{OneOf: requests})
}

func (m *messages) addNotifications(r *reflector) {
	var notifications []*Node
	for _, row := range protocol.Notifications() {
		r.of(row.Params)
		m.roots = append(m.roots, typeName(row.Params))
		notifications = append(notifications,
			described(object(version, method(row.Method), params(row.Params), emittedAt), row.Doc))
	}
	m.addRoot(r, "ServerNotification", "A notification of the server.", &Node{OneOf: notifications})
}

func (m *messages) addServerRequests(r *reflector) {
	var requests []*Node
	for _, row := range protocol.ServerRequests() {
		r.of(row.Params)
		m.roots = append(m.roots, typeName(row.Params), typeName(row.Result))
		requests = append(requests, described(object(version, r.id(), method(row.Name), params(row.Params)), row.Doc))
	}
	m.addRoot(r, "ServerRequest", "A request of the server.", &Node{OneOf: requests})
}

func (m *messages) addErrors(r *reflector) {
	id := r.id()
	id.Value = nullable(id.Value)
	answer := object(version, id, Property{"error", r.of(reflect.TypeFor[protocol.Error]())})
	m.addRoot(r, "ErrorResponse",
		"The response to a failed request. The id is null if the id of the request could not be read.", answer)
}

func (m *messages) addRoot(r *reflector, name, doc string, n *Node) {
	r.define(name, doc, func() *Node { return n })
	m.roots = append(m.roots, name)
}

// version is the member that every message of the server has. Clients may leave
// it out.
var version = Property{"jsonrpc", words("2.0")}

// emittedAt is the member that every notification of the server has: Unix time in milliseconds.
var emittedAt = Property{"emittedAtMs", kind("integer")}

func method(name string) Property { return Property{"method", words(name)} }

func params(t reflect.Type) Property { return Property{"params", ref(typeName(t))} }

func (r *reflector) id() Property {
	id := r.define("RequestId", "The id of a request. The ids of the server's requests are numbers.", func() *Node {
		return &Node{Type: Kinds{"string", "integer"}}
	})
	return Property{"id", id}
}

// request returns the node of a client's request. The params can be absent if no member is required.
func (r *reflector) request(name, params, doc string) *Node {
	n := object(r.id(), method(name))
	n.Properties = append(Properties{version}, n.Properties...)
	value := ref(params)
	if len(r.definitions[params].Required) > 0 {
		n.Required = append(n.Required, "params")
	} else {
		value = nullable(value)
	}
	n.Properties = append(n.Properties, Property{"params", value})
	return described(n, doc)
}

// resultName returns the name of a method's result: the name of its type. Methods with the shared
// empty result have the name of their params.
func resultName(m protocol.Method) string {
	if m.Result == reflect.TypeFor[protocol.Empty]() {
		return strings.TrimSuffix(typeName(m.Params), "Params") + "Response"
	}
	return typeName(m.Result)
}

// markExperimental adds a note to the description of params that need a capability.
func (r *reflector) markExperimental(m protocol.Method) {
	definition := r.definitions[typeName(m.Params)]
	for _, name := range m.Experimental {
		for i, p := range definition.Properties {
			if p.Name == name {
				text := strings.TrimSpace(p.Value.Description + " Only with the capability experimentalApi.")
				definition.Properties[i].Value = described(p.Value, text)
			}
		}
	}
}
