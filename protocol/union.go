package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tidwall/gjson"
)

// Variant is one shape that a union can take.
type Variant struct {
	Tag  string
	Type reflect.Type
}

// Union describes a tagged union for schema generation: the Go type that embeds
// the interface, the member that tells the variants apart, and the variants.
type Union struct {
	Type     reflect.Type
	Member   string
	Variants []Variant
}

// Unknown is a variant that this version has no type for. It is written back as
// it was read.
type Unknown struct {
	Tag string
	Raw json.RawMessage
}

// UnknownVariantError reports a value outside a closed set.
type UnknownVariantError struct {
	Value    string
	Expected []string
}

// Error words the refusal as the reference implementation does.
func (e *UnknownVariantError) Error() string {
	return fmt.Sprintf("unknown variant `%s`, expected one of `%s`", e.Value, strings.Join(e.Expected, "`, `"))
}

// MissingFieldError reports a required member that is absent or null.
type MissingFieldError struct{ Field string }

// Error words the refusal as the reference implementation does.
func (e *MissingFieldError) Error() string { return "missing field `" + e.Field + "`" }

var errNotObject = errors.New("expected an object")

// variants maps tags to constructors of pointers to variant structs.
type variants[T any] struct {
	member string
	tags   []string
	make   map[string]func() T
	tagOf  map[reflect.Type]string
}

type variantRow[T any] struct {
	tag  string
	make func() T
}

func newVariants[T any](member string, rows ...variantRow[T]) variants[T] {
	v := variants[T]{member: member, make: map[string]func() T{}, tagOf: map[reflect.Type]string{}}
	for _, r := range rows {
		v.tags = append(v.tags, r.tag)
		v.make[r.tag] = r.make
		v.tagOf[reflect.TypeOf(r.make())] = r.tag
	}
	return v
}

func (v variants[T]) describe(union any) Union {
	u := Union{Type: reflect.TypeOf(union), Member: v.member}
	for _, tag := range v.tags {
		u.Variants = append(u.Variants, Variant{tag, reflect.TypeOf(v.make[tag]()).Elem()})
	}
	return u
}

// decode reads one variant of JSON that is known to be valid. An unknown tag yields
// ok == false and the tag.
func (v variants[T]) decode(b []byte) (value T, tag string, ok bool, err error) {
	if !gjson.ParseBytes(b).IsObject() {
		return value, "", false, errNotObject
	}
	member := gjson.GetBytes(b, v.member)
	if !member.Exists() {
		return value, "", false, &MissingFieldError{v.member}
	}
	if member.Type != gjson.String && member.Type != gjson.Null {
		return value, "", false, fmt.Errorf("`%s`: expected a string", v.member)
	}
	mk, known := v.make[member.Str]
	if !known {
		return value, member.Str, false, nil
	}
	value = mk()
	return value, member.Str, true, json.Unmarshal(b, value)
}

// encode writes value with its tag as the first member.
func (v variants[T]) encode(value T) ([]byte, error) {
	tag, ok := v.tagOf[reflect.TypeOf(value)]
	if !ok {
		return nil, fmt.Errorf("protocol: %T is no variant of this union", value)
	}
	return encodeTagged(v.member, tag, value)
}

func encodeTagged(member, tag string, value any) ([]byte, error) {
	body, err := marshal(value)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body)+len(member)+len(tag)+8)
	out = append(out, '{', '"')
	out = append(out, member...)
	out = append(out, '"', ':', '"')
	out = append(out, tag...)
	out = append(out, '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// marshal writes JSON without escaping <, > and &, as the reference does.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Marshal is json.Marshal without HTML escaping: bytes on the wire and in
// rollouts equal those of the reference implementation.
func Marshal(v any) ([]byte, error) { return marshal(v) }

func decodeEnum(b []byte, allowed []string) (string, error) {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return "", fmt.Errorf("expected a string, one of `%s`", strings.Join(allowed, "`, `"))
	}
	for _, a := range allowed {
		if s == a {
			return s, nil
		}
	}
	return "", &UnknownVariantError{s, allowed}
}
