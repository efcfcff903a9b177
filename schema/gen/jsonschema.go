package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	draft  = "http://json-schema.org/draft-07/schema#"
	bundle = "json/appserver.schemas.json"
)

// jsonFiles returns the bundle of all definitions, and a file per root that holds the
// definitions it needs.
func jsonFiles(m *messages) (map[string][]byte, error) {
	all := &Node{Version: draft, Title: "The protocol of appserver", Definitions: m.definitions}
	documents := map[string]*Node{bundle: all}
	for _, root := range m.roots {
		document := *m.definitions[root]
		document.Version = draft
		document.Title = root
		document.Definitions = map[string]*Node{}
		m.addReachable(document.Definitions, m.definitions[root])
		documents["json/"+root+".json"] = &document
	}
	files := map[string][]byte{}
	for name, document := range documents {
		content, err := indented(document)
		if err != nil {
			return nil, err
		}
		files[name] = content
	}
	return files, nil
}

// addReachable adds what n refers to, directly or not.
func (m *messages) addReachable(to map[string]*Node, n *Node) {
	if name, ok := strings.CutPrefix(n.Ref, refPrefix); ok && to[name] == nil {
		to[name] = m.definitions[name]
		m.addReachable(to, m.definitions[name])
	}
	for _, child := range n.children() {
		m.addReachable(to, child)
	}
}

func indented(n *Node) ([]byte, error) {
	compact, err := encode(n)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
