package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

func decodeYAML(file string, text []byte) (map[string]any, *lines, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, yamlError(file, err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode && root.Tag != "!!null" {
		at := position{label: file, line: root.Line}
		return nil, nil, &Error{Position: at.String(), Problem: "expected a table of keys"}
	}
	var values any
	if err := doc.Decode(&values); err != nil {
		return nil, nil, yamlError(file, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, nil, &Error{Position: file, Problem: "more than one YAML document: expected one"}
	}
	table, _ := asTable(values)
	return table, yamlLines(root, 0), nil
}

// yamlLines returns the lines of the keys below n. It does not follow aliases: a key from an alias
// has the line of the key that uses it.
func yamlLines(n *yaml.Node, depth int) *lines {
	l := &lines{line: n.Line}
	if n.Kind != yaml.MappingNode || depth > maxDepth {
		return l
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		below := yamlLines(n.Content[i+1], depth+1)
		below.line = key.Line
		l.at(key.Value, key.Line).keys = below.keys
	}
	return l
}

// yamlLine finds the line in error texts of the YAML decoder, which have no field for it.
var yamlLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)
})

func yamlError(file string, err error) *Error {
	at, text := position{label: file}, err.Error()
	if m := yamlLine().FindStringSubmatch(text); m != nil {
		at.line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	return &Error{Position: at.String(), Problem: strings.TrimPrefix(text, "yaml: ")}
}
