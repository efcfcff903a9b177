package toolschema

import (
	"maps"
	"slices"
	"strings"

	"appserver/platform/excerpt"
)

const (
	// maxVisited bounds the schemas and entries that are read for one result, with those that references repeat.
	maxVisited = 100_000
	// maxText bounds the bytes of all texts of one result.
	maxText = 4 * maxBytes
)

// reader makes a node of a schema.
type reader struct {
	limits
	root any
	// active are the references whose targets are being read.
	active []string
	// visited and text count the nodes and the bytes that were read. overflown is set if they exceed their bounds.
	visited, text int
	overflown     bool
	renamed       map[string]string
}

// charge counts a read, and reports whether more may be read.
func (r *reader) charge(entries, text int) bool {
	r.visited += entries
	r.text += text
	r.overflown = r.overflown || r.visited > maxVisited || r.text > maxText
	return !r.overflown
}

// arguments reads the schema of a tool's arguments.
func (r *reader) arguments() *node {
	n := r.read(r.root, 0)
	if n.Type != typeObject {
		n = &node{Type: typeObject, Properties: map[string]*node{}}
	}
	given := n.Additional
	r.finish(n)
	if given == nil {
		n.Additional = nil // a tool without arguments takes no others
	}
	for name, property := range n.Properties {
		if property.Description == "" {
			property.Description = name
		}
	}
	return n
}

// read reads a schema. Its required names can lack properties, and its type can be null, until finish.
func (r *reader) read(schema any, depth int) *node {
	members, isObject := schema.(map[string]any)
	if !isObject || !r.charge(1, 0) {
		return bare(typeString)
	}
	active := len(r.active)
	defer func() { r.active = r.active[:active] }()
	members, recursive := r.expand(members, 0)
	if recursive || depth > r.depth {
		n := bare(kindOf(members))
		n.Description = r.describe(members)
		return n
	}
	n := r.readAlternatives(members, depth)
	if n == nil {
		n = r.readKind(members, kindOf(members), depth)
	}
	n.Description = r.join(r.describe(members), n.Description, hints(members, n))
	return n
}

// readKind reads the members of a type.
func (r *reader) readKind(members map[string]any, kind string, depth int) *node {
	switch kind {
	case typeObject:
		return r.readObject(members, depth)
	case typeArray:
		return &node{Type: typeArray, Items: r.readItems(members, depth+1)}
	case typeString:
		return &node{Type: typeString, Enum: r.readEnum(members)}
	}
	return &node{Type: kind}
}

// readObject reads the properties of an object in the order of their names.
func (r *reader) readObject(members map[string]any, depth int) *node {
	n := &node{Type: typeObject, Properties: map[string]*node{}}
	properties, _ := members["properties"].(map[string]any)
	required := textsOf(members["required"])
	if !r.charge(len(properties)+len(required), 0) {
		return n
	}
	names := slices.Sorted(maps.Keys(properties))
	wanted := setOf(required)
	slices.SortStableFunc(names, func(a, b string) int { return rankOf(wanted[a]) - rankOf(wanted[b]) })
	for _, name := range names[:min(len(names), r.properties)] {
		given := r.rename(name)
		r.charge(0, len(given))
		property := r.read(properties[name], depth+1)
		if given != name {
			property.Description = r.join("Name: "+name+".", property.Description)
		}
		n.Properties[given] = property
		if isRequired(properties[name]) {
			required = append(required, name)
		}
	}
	for _, name := range required {
		n.Required = append(n.Required, r.rename(name))
	}
	n.Additional = r.readAdditional(members, depth+1)
	return n
}

// rankOf sorts required properties before others, so that a limit keeps them.
func rankOf(required bool) int {
	if required {
		return 0
	}
	return 1
}

// isRequired reports whether a property is marked as required itself, as in older versions of JSON Schema.
func isRequired(schema any) bool {
	members, _ := schema.(map[string]any)
	return members["required"] == true
}

// readAdditional reads the schema of properties without a name in the schema. It returns nil if there is none.
func (r *reader) readAdditional(members map[string]any, depth int) any {
	switch given := members["additionalProperties"].(type) {
	case bool:
		return given
	case map[string]any:
		if len(given) == 0 {
			return true
		}
		return r.read(given, depth)
	}
	if patterns, _ := members["patternProperties"].(map[string]any); len(patterns) > 0 {
		return true
	}
	return nil
}

// readItems reads the schema of an array's items. The items of a tuple become one schema.
func (r *reader) readItems(members map[string]any, depth int) *node {
	for _, name := range []string{"items", "prefixItems"} {
		switch given := members[name].(type) {
		case map[string]any:
			return r.read(given, depth)
		case []any:
			if n := r.union(r.readAll(given, depth)); n != nil {
				return n
			}
		}
	}
	return bare(typeString)
}

// readAll reads schemas that are objects, up to the limit.
func (r *reader) readAll(schemas []any, depth int) (nodes []*node) {
	for _, schema := range schemas[:min(len(schemas), r.variants)] {
		if _, isObject := schema.(map[string]any); isObject && !r.overflown {
			nodes = append(nodes, r.read(schema, depth))
		}
	}
	return nodes
}

// readEnum returns the values that a text can have, or nil if it can have others.
func (r *reader) readEnum(members map[string]any) []string {
	values := valuesOf(members)
	if len(values) == 0 || len(values) > r.enum || !r.charge(len(values), 0) {
		return nil
	}
	var texts []string
	for _, value := range values {
		text, isText := value.(string)
		if !isText && value != nil {
			return nil
		}
		if text != "" && !slices.Contains(texts, text) {
			r.charge(0, len(text))
			texts = append(texts, text)
		}
	}
	return texts
}

// describe returns the description of a schema, or else its title, or "".
func (r *reader) describe(members map[string]any) string {
	text, _ := members["description"].(string)
	if strings.TrimSpace(text) == "" {
		text, _ = members["title"].(string)
	}
	return r.join(text)
}

// join joins the parts of a description that are not empty.
func (r *reader) join(parts ...string) string {
	var texts []string
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			texts = append(texts, part)
		}
	}
	text := strings.Join(texts, " ")
	if len(text) > r.description {
		text = strings.TrimSpace(excerpt.Prefix(text, r.description))
	}
	r.charge(0, len(text))
	return text
}

// finish removes what only unions need: the type null, and required names without a property. It opens objects that
// restrict nothing.
func (r *reader) finish(n *node) {
	if n.Type == typeNull {
		n.Type = typeString
	}
	if n.Type == typeObject && len(n.Properties) == 0 && n.Additional == nil {
		n.Additional = true
	}
	n.Required = slices.DeleteFunc(distinct(n.Required), func(name string) bool { return n.Properties[name] == nil })
	for _, property := range n.Properties {
		r.finish(property)
	}
	if additional, ok := n.Additional.(*node); ok {
		r.finish(additional)
	}
	if n.Items != nil {
		r.finish(n.Items)
	}
}

// distinct returns texts without repetitions.
func distinct(texts []string) (out []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

func textsOf(list any) (texts []string) {
	values, _ := list.([]any)
	for _, value := range values {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func setOf(texts []string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		set[text] = true
	}
	return set
}
