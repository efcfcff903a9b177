package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tidwall/gjson"
)

// Variant is one form of a union: {"<member>": "<tag>", ...} with the members of the struct Type.
type Variant struct {
	Tag  string
	Type reflect.Type
}

// Union describes a tagged union for schema generation: the Go type that embeds the interface, the tag
// member, and the variants.
type Union struct {
	Type     reflect.Type
	Member   string
	Variants []Variant
}

// Unknown is a variant without a type in this version. It is encoded as it was read or, without
// JSON, as an object with the tag alone.
type Unknown struct {
	Tag string
	Raw json.RawMessage
}

// variants are the rows of a union, by tag and by type.
type variants[T any] struct {
	member string
	tags   []string
	types  map[string]reflect.Type // structs
	tagOf  map[reflect.Type]string // by pointer to struct
}

// variantRow has a variant as a pointer to its zero value.
type variantRow[T any] struct {
	tag  string
	zero T
}

func newVariants[T any](member string, rows ...variantRow[T]) variants[T] {
	v := variants[T]{member: member, types: map[string]reflect.Type{}, tagOf: map[reflect.Type]string{}}
	for _, r := range rows {
		t := reflect.TypeOf(r.zero)
		v.tags = append(v.tags, r.tag)
		v.types[r.tag], v.tagOf[t] = t.Elem(), r.tag
	}
	return v
}

func (v variants[T]) describe(union any) Union {
	u := Union{Type: reflect.TypeOf(union), Member: v.member}
	for _, tag := range v.tags {
		u.Variants = append(u.Variants, Variant{tag, v.types[tag]})
	}
	return u
}

// strict reads one of the variants by the rules of DecodeParams.
func (v variants[T]) strict(in gjson.Result) (value T, err error) {
	members, err := objectMembers(in)
	if err != nil {
		return value, err
	}
	tag := members[v.member]
	switch {
	case tag.Type == gjson.Null:
		return value, at(v.member, &MissingFieldError{v.member})
	case tag.Type != gjson.String:
		return value, at(v.member, wrongType(tag, "a string"))
	}
	t, known := v.types[tag.Str]
	if !known {
		return value, &UnknownVariantError{tag.Str, v.tags}
	}
	made := reflect.New(t)
	return made.Interface().(T), decodeFields(members, made.Elem())
}

// tolerant decodes one of the variants of a file: members can be missing, lists can be null, and an
// unknown tag yields an *Unknown, which must be a T. b is valid JSON.
func (v variants[T]) tolerant(b []byte) (value T, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return value, wrongType(gjson.ParseBytes(b), "an object")
	}
	tag := gjson.GetBytes(b, v.member)
	switch {
	case !tag.Exists():
		return value, &MissingFieldError{v.member}
	case tag.Type != gjson.String && tag.Type != gjson.Null:
		return value, at(v.member, wrongType(tag, "a string"))
	}
	t, known := v.types[tag.Str]
	if !known {
		return any(&Unknown{tag.Str, bytes.Clone(b)}).(T), nil
	}
	made := reflect.New(t)
	err = Unmarshal(b, made.Interface())
	fillLists(made.Elem())
	return made.Interface().(T), err
}

// fillLists replaces null lists by empty ones: on the wire a list is never null. It skips types
// with JSON methods of their own, json.RawMessage among them.
func fillLists(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		_, own := f.Addr().Interface().(json.Unmarshaler)
		switch {
		case own || strings.Contains(v.Type().Field(i).Tag.Get("json"), ",omitempty"):
		case f.Kind() == reflect.Struct:
			fillLists(f)
		case f.Kind() == reflect.Slice && f.IsNil():
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		}
	}
}

// encode writes value with its tag as the first member.
func (v variants[T]) encode(value T) ([]byte, error) {
	if u, ok := any(value).(*Unknown); ok && u != nil {
		if len(u.Raw) == 0 {
			return marshal(map[string]string{v.member: u.Tag})
		}
		return u.Raw, nil
	}
	tag, ok := v.tagOf[reflect.TypeOf(value)]
	if !ok || reflect.ValueOf(value).IsNil() {
		return nil, fmt.Errorf("protocol: %T is no variant of this union, or nil", value)
	}
	return encodeTagged(v.member, tag, value)
}

// encodeTagged returns an object whose first member is the tag. The value is encoded after the tag,
// so that it need not be copied.
func encodeTagged(member, tag string, value any) ([]byte, error) {
	buf := bytes.NewBufferString(`{"` + member + `":"` + tag + `"`)
	body := buf.Len()
	if err := marshalTo(buf, value); err != nil {
		return nil, err
	}
	out := buf.Bytes()
	if string(out[body:]) == "{}" {
		return append(out[:body], '}'), nil
	}
	out[body] = ','
	return out, nil
}

// Marshal encodes as json.Marshal does, but without HTML escaping, so that bytes on the wire and in
// rollouts equal those of the reference implementation. Its output is well-formed.
func Marshal(v any) ([]byte, error) {
	text, err := marshal(v)
	return ToWellFormed(text), err
}

func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := marshalTo(&buf, v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func marshalTo(buf *bytes.Buffer, v any) error {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	buf.Truncate(len(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))))
	return err
}
