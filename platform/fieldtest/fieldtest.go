// Package fieldtest fills and compares all fields of structs, for tests that a copy or a snapshot has
// every field of a state. A new field fails such a test until somebody decides whether it is durable.
package fieldtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Fields decides how fields are filled and compared. Keys are the name of a field, or the names of its
// struct and of the field with a dot between.
type Fields struct {
	// Values are given to fields instead of a value of their kind.
	Values map[string]any
	// Ignored are fields that are neither filled nor compared, each with the reason.
	Ignored map[string]string
}

// Fill sets each field of the struct behind v, nested structs, lists and maps included. A field without a
// value in Values whose type cannot be filled fails the test.
func (f Fields) Fill(t *testing.T, v any) {
	t.Helper()
	f.fill(t, reflect.ValueOf(v).Elem(), nil)
}

// Same requires that two structs have the same value, other than zero, in each field, nested ones included.
func (f Fields) Same(t *testing.T, want, got any) {
	t.Helper()
	f.same(t, reflect.ValueOf(want).Elem(), reflect.ValueOf(got).Elem())
}

// value returns the value in Values of a field.
func (f Fields) value(structName, name string) (given any, known bool) {
	if given, known = f.Values[name]; !known {
		given, known = f.Values[structName+"."+name]
	}
	return given, known
}

// fill fills a struct. within are the structs that contain it.
func (f Fields) fill(t *testing.T, v reflect.Value, within []reflect.Type) {
	t.Helper()
	for i := range v.NumField() {
		structName, name := v.Type().Name(), v.Type().Field(i).Name
		at := open(v.Field(i))
		given, known := f.value(structName, name)
		switch {
		case known:
			at.Set(reflect.ValueOf(given))
		case f.Ignored[structName+"."+name] != "":
		default:
			require.True(t, f.fillKind(t, at, append(within, v.Type())),
				"%s.%s needs a value in this test, or a reason why it is ignored", structName, name)
		}
	}
}

// fillKind sets a value of a basic type, a struct, a list, a map, or a pointer. It returns false for other types, and
// for a struct that contains itself.
func (f Fields) fillKind(t *testing.T, v reflect.Value, within []reflect.Type) bool {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Struct:
		if slices.Contains(within, v.Type()) {
			return false
		}
		f.fill(t, v, within)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`"x"`))
			break
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return f.fillKind(t, v.Index(0), within)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return f.fillKind(t, v.Elem(), within)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		v.Set(reflect.MakeMap(v.Type()))
		filled := f.fillKind(t, key, within) && f.fillKind(t, value, within)
		v.SetMapIndex(key, value)
		return filled
	default:
		return false
	}
	return true
}

// same compares two structs. A field with a value in Values is compared as a whole.
func (f Fields) same(t *testing.T, want, got reflect.Value) {
	t.Helper()
	for i := range want.NumField() {
		structName, name := want.Type().Name(), want.Type().Field(i).Name
		a, b := open(want.Field(i)), open(got.Field(i))
		_, given := f.value(structName, name)
		switch {
		case f.Ignored[structName+"."+name] != "":
		case !given && a.Kind() == reflect.Struct:
			f.same(t, a, b)
		case !given && a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Struct:
			require.NotZero(t, a.Len(), "%s.%s has no value", structName, name)
			require.Equal(t, a.Len(), b.Len(), "%s.%s is lost", structName, name)
			for k := range a.Len() {
				f.same(t, a.Index(k), b.Index(k))
			}
		default:
			require.False(t, a.IsZero(), "%s.%s has no value", structName, name)
			require.Equal(t, a.Interface(), b.Interface(), "%s.%s is lost", structName, name)
		}
	}
}

// open makes a field that is not exported readable and settable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
