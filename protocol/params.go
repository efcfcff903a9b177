package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// DecodeParams reads params into *p, a pointer to a params struct. The package documentation explains
// the struct's tags. Names of members are case sensitive. Unknown members are ignored. Null counts as
// absent, and absent params count as {}. Each error is an *Error with code CodeInvalidParams, and with
// the dotted path of the member in data.field: "input.0.text". *p shares no memory with params.
func DecodeParams(params json.RawMessage, p any) error {
	if len(bytes.TrimSpace(params)) == 0 {
		params = json.RawMessage("null")
	}
	if !Valid(params) {
		return InvalidParams("", "not JSON, or nested too deeply")
	}
	in := gjson.ParseBytes(params)
	if in.Type == gjson.Null {
		in = gjson.Parse("{}")
	}
	if err := decodeObject(in, reflect.ValueOf(p).Elem()); err != nil {
		return refusal(err)
	}
	return nil
}

// maxDepth is the maximum nesting of JSON from others. encoding/json accepts 10,000 levels, which
// include those of the surrounding message or line.
const maxDepth = 9_900

// Valid reports whether a text is JSON that can be part of messages and lines.
func Valid(text []byte) bool {
	return json.Valid(text) && (len(text) <= 2*maxDepth || depthOf(text) <= maxDepth)
}

// depthOf returns the depth of nested JSON.
func depthOf(text []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}

func refusal(err error) *Error {
	var member *memberError
	if errors.As(err, &member) {
		return InvalidParams(member.path, "%v", member)
	}
	return InvalidParams("", "%s", inClientsWords(err))
}

func decodeObject(in gjson.Result, v reflect.Value) error {
	members, err := objectMembers(in)
	if err != nil {
		return err
	}
	return decodeFields(members, v)
}

// objectMembers returns the members of an object by name. Of several with one name, the last
// counts.
func objectMembers(in gjson.Result) (map[string]gjson.Result, error) {
	if !in.IsObject() {
		return nil, wrongType(in, "an object")
	}
	members := map[string]gjson.Result{}
	in.ForEach(func(name, value gjson.Result) bool {
		members[name.Str] = value
		return true
	})
	return members, nil
}

// decodeFields fills the struct v. Embedded structs share the members of v.
func decodeFields(members map[string]gjson.Result, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			if err := decodeFields(members, v.Field(i)); err != nil {
				return err
			}
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if err := decodeMember(members[name], f, v.Field(i)); err != nil {
			return at(name, err)
		}
	}
	return nil
}

// decodeMember fills the field f. An absent member is the zero Result, which is
// null like a member that is null.
func decodeMember(in gjson.Result, f reflect.StructField, v reflect.Value) error {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	fallback, hasDefault := f.Tag.Lookup("default")
	switch {
	case in.Type != gjson.Null, in.Exists() && options == "" &&
		v.Type() == reflect.TypeFor[json.RawMessage](): // any JSON, null too
		if err := decodeValue(in, v); err != nil {
			return err
		}
		return checkWords(strings.Fields(f.Tag.Get("oneof")), v)
	case hasDefault && v.Kind() == reflect.Pointer: // null
	case hasDefault && v.Kind() == reflect.String:
		v.SetString(fallback)
	case hasDefault:
		return decodeValue(gjson.Parse(fallback), v)
	case options != "omitempty":
		return &MissingFieldError{name}
	}
	return nil
}

func decodeValue(in gjson.Result, v reflect.Value) error {
	switch own := v.Addr().Interface().(type) {
	case *UserInput:
		return own.decodeParams(in)
	case json.Unmarshaler:
		return decodeError(own.UnmarshalJSON([]byte(in.Raw)))
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(in, v.Elem())
	case reflect.Struct:
		return decodeObject(in, v)
	case reflect.Slice:
		return decodeList(in, v)
	case reflect.String:
		return decodeText(in, v)
	}
	return decodeError(Unmarshal([]byte(in.Raw), v.Addr().Interface()))
}

func decodeList(in gjson.Result, v reflect.Value) error {
	if !in.IsArray() {
		return wrongType(in, "a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i, element := range in.Array() {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if err := decodeValue(element, v.Index(i)); err != nil {
			return at(strconv.Itoa(i), err)
		}
	}
	return nil
}

func decodeText(in gjson.Result, v reflect.Value) error {
	if in.Type != gjson.String {
		return wrongType(in, "a string")
	}
	text := textOf(in)
	if len(text) == len(in.Raw)-len(`""`) {
		// Without escapes it is a part of the params as a whole, and would keep them.
		text = strings.Clone(text)
	}
	v.SetString(text)
	return nil
}

// textOf returns the text of a string, or "" for other values. Invalid UTF-8 is replaced, as in
// encoding/json.
func textOf(in gjson.Result) string { return strings.ToValidUTF8(in.Str, "\uFFFD") }

// checkWords returns an error unless a string, or each string of a list, is in a closed set of
// words. Without words, all strings are permitted.
func checkWords(words []string, v reflect.Value) error {
	switch {
	case len(words) == 0:
		return nil
	case v.Kind() == reflect.Pointer:
		return checkWords(words, v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if err := checkWords(words, v.Index(i)); err != nil {
				return at(strconv.Itoa(i), err)
			}
		}
		return nil
	case !slices.Contains(words, v.String()):
		return &UnknownVariantError{v.String(), words}
	}
	return nil
}
