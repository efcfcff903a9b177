package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// DecodeParams reads params into *p, a pointer to a params struct. Unknown members
// are passed over, null counts as absent. What is wrong is an *Error that names
// the member.
func DecodeParams(params json.RawMessage, p any) error {
	if len(bytes.TrimSpace(params)) == 0 || string(params) == "null" {
		params = json.RawMessage("{}")
	}
	if err := json.Unmarshal(params, p); err != nil {
		return decodeError(err)
	}
	return requireFields(params, reflect.TypeOf(p).Elem(), "")
}

// decodeError names the member that an encoding/json error is about.
func decodeError(err error) error {
	var typeErr *json.UnmarshalTypeError
	var missing *MissingFieldError
	switch {
	case errors.As(err, &typeErr) && typeErr.Field != "":
		return InvalidParams(typeErr.Field, "`%s`: invalid type: %s, expected %s", typeErr.Field, typeErr.Value, jsonKind(typeErr.Type))
	case errors.As(err, &typeErr):
		return InvalidParams("", "invalid type: %s, expected an object", typeErr.Value)
	case errors.As(err, &missing):
		return InvalidParams(missing.Field, "%v", missing)
	}
	return InvalidParams("", "%v", err)
}

func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return jsonKind(t.Elem())
	}
	return "a number"
}

// requireFields checks that members without omitempty are there, in t and in the
// plain structs it holds.
func requireFields(raw json.RawMessage, t reflect.Type, path string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return InvalidParams(path, "%s: %v", path, errNotObject)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, present := members[name]
		present = present && string(value) != "null"
		if !present && !strings.Contains(options, "omitempty") {
			return InvalidParams(path+name, "%v", &MissingFieldError{name})
		}
		if present && f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(unmarshaler) {
			if err := requireFields(value, f.Type, path+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
