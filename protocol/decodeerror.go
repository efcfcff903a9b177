package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/tidwall/gjson"
)

// UnknownVariantError reports a word outside a closed set.
type UnknownVariantError struct {
	Value    string
	Expected []string
}

// Error returns the message of the reference implementation, which clients match.
func (e *UnknownVariantError) Error() string {
	return fmt.Sprintf("unknown variant `%s`, expected one of `%s`", e.Value, strings.Join(e.Expected, "`, `"))
}

// MissingFieldError reports a required member that is absent or null.
type MissingFieldError struct{ Field string }

// Error returns the message of the reference implementation, which clients match.
func (e *MissingFieldError) Error() string { return "missing field `" + e.Field + "`" }

// wrongTypeError reports a value of another JSON type than expected.
type wrongTypeError struct{ got, want string }

func (e *wrongTypeError) Error() string { return "expected " + e.want + ", got " + e.got }

func wrongType(in gjson.Result, want string) error { return &wrongTypeError{jsonKind(in), want} }

// memberError is an error of a member, which is named by its dotted path.
type memberError struct {
	path string
	err  error
}

// Error returns a message with the member, unless err has a message that clients match from the
// start.
func (e *memberError) Error() string {
	switch e.err.(type) {
	case *MissingFieldError, *UnknownVariantError:
		return e.err.Error()
	}
	return "`" + e.path + "`: " + inClientsWords(e.err)
}

func (e *memberError) Unwrap() error { return e.err }

// inClientsWords returns the message for a wrong type that clients recognise.
func inClientsWords(err error) string {
	var wrong *wrongTypeError
	if errors.As(err, &wrong) {
		return "invalid type: " + wrong.got + ", expected " + wrong.want
	}
	return err.Error()
}

// at adds the name of a member to an error about it, or about a part of it.
func at(name string, err error) error {
	if err == nil {
		return nil
	}
	var inner *memberError
	if errors.As(err, &inner) {
		return &memberError{name + "." + inner.path, inner.err}
	}
	return &memberError{name, err}
}

// decodeError converts an error of encoding/json to an error of this package.
func decodeError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &wrongTypeError{wrong.Value, goKind(wrong.Type)}
	}
	return err
}

// jsonKind returns the name of the given type.
func jsonKind(in gjson.Result) string {
	switch {
	case in.IsObject():
		return "object"
	case in.IsArray():
		return "array"
	case in.IsBool():
		return "bool"
	case in.Type == gjson.String:
		return "string"
	case in.Type == gjson.Number:
		return "number"
	}
	return "null"
}

// goKind returns the name of the expected type.
func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Uint32:
		return fmt.Sprintf("an integer from 0 to %d", uint32(math.MaxUint32))
	}
	return "a number"
}
