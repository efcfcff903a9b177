package toolschema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxNesting bounds references to references, and allOf within allOf.
	maxNesting = 64
	// maxRepeats is how often a path through the schema passes one reference before it counts as recursive.
	maxRepeats = 2
)

// expand returns a schema with the targets of its references and the parts of its allOf. It reports whether they
// are recursive.
func (r *reader) expand(members map[string]any, nesting int) (expanded map[string]any, recursive bool) {
	ref, refers := members["$ref"].(string)
	parts, _ := members["allOf"].([]any)
	if !refers && len(parts) == 0 {
		return members, false
	}
	own := maps.Clone(members)
	delete(own, "$ref")
	delete(own, "allOf")
	if nesting > maxNesting || !r.charge(len(members)+len(parts), 0) {
		return own, true
	}
	if target := r.target(ref); target != nil {
		if repeats(r.active, ref) >= maxRepeats {
			return withKind(own, kindOf(target)), true
		}
		r.active = append(r.active, ref)
		target, recursive = r.expand(target, nesting+1)
		if own = r.merge(own, target); recursive {
			return own, true
		}
	}
	for _, part := range parts {
		if part, isObject := part.(map[string]any); isObject {
			if part, recursive = r.expand(part, nesting+1); !recursive {
				own = r.merge(own, part)
			}
		}
	}
	return own, false
}

func repeats(refs []string, ref string) (n int) {
	for _, other := range refs {
		if other == ref {
			n++
		}
	}
	return n
}

func withKind(members map[string]any, kind string) map[string]any {
	if _, has := members["type"]; !has {
		members["type"] = kind
	}
	return members
}

// merge adds the members of a schema to another one, whose members have precedence.
func (r *reader) merge(own, more map[string]any) map[string]any {
	if !r.charge(len(more), 0) {
		return own
	}
	for name, value := range more {
		given, has := own[name]
		switch {
		case !has:
			own[name] = value
		case name == "properties":
			own[name] = r.mergeProperties(given, value)
		case name == "required":
			first, _ := given.([]any)
			second, _ := value.([]any)
			own[name] = slices.Concat(first, second)
		}
	}
	return own
}

// mergeProperties returns the properties of both. A property of both must match both schemas.
func (r *reader) mergeProperties(a, b any) any {
	first, isObject := a.(map[string]any)
	second, alsoObject := b.(map[string]any)
	if !isObject {
		return b
	}
	if !alsoObject || !r.charge(len(first)+len(second), 0) {
		return a
	}
	both := maps.Clone(first)
	for name, schema := range second {
		if other, has := both[name]; has {
			schema = map[string]any{"allOf": []any{other, schema}}
		}
		both[name] = schema
	}
	return both
}

// target returns the schema that a reference within the schema names, or nil.
func (r *reader) target(ref string) map[string]any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	steps := strings.Split(decodePercent(pointer), "/")
	if steps[0] != "" || !r.charge(len(steps), 0) {
		return nil
	}
	at := r.root
	for _, step := range steps[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := at.(type) {
		case map[string]any:
			at = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			at = in[i]
		default:
			return nil
		}
	}
	members, _ := at.(map[string]any)
	return members
}

// decodePercent decodes %24 and the like, which references in the form of a URL have.
func decodePercent(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
