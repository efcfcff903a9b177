// Package fieldtest fills and compares all fields of structs, for tests that a copy or a snapshot has
// every field of a state. A new field fails such a test until somebody decides whether it is durable.
package fieldtest

import (
	"reflect"
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

// Fill sets each field of the struct behind v. Structs without a value in Values are filled
// field by field.
func (f Fields) Fill(t *testing.T, v any) { f.fill(t, reflect.ValueOf(v).Elem()) }

// Same requires that two structs have the same value, other than zero, in each field. Lists of structs
// only need the same length.
func (f Fields) Same(t *testing.T, want, got any) {
	f.same(t, reflect.ValueOf(want).Elem(), reflect.ValueOf(got).Elem())
}

func (f Fields) fill(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		field, structName := v.Type().Field(i), v.Type().Name()
		at := open(v.Field(i))
		given, known := f.Values[field.Name]
		if !known {
			given, known = f.Values[structName+"."+field.Name]
		}
		switch {
		case known:
			at.Set(reflect.ValueOf(given))
		case f.Ignored[structName+"."+field.Name] != "":
		case at.Kind() == reflect.Struct:
			f.fill(t, at)
		default:
			require.True(
				t,
				fillKind(at),
				"%s.%s needs a value in this test, or a reason why it is ignored",
				structName,
				field.Name,
			)
		}
	}
}

// fillKind sets a value of a basic type, a list or a map of them, or a pointer to one.
func fillKind(v reflect.Value) bool {
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
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fillKind(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fillKind(v.Elem())
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		v.Set(reflect.MakeMap(v.Type()))
		filled := fillKind(key) && fillKind(value)
		v.SetMapIndex(key, value)
		return filled
	default:
		return false
	}
	return true
}

func (f Fields) same(t *testing.T, want, got reflect.Value) {
	for i := range want.NumField() {
		field, structName := want.Type().Field(i), want.Type().Name()
		a, b := open(want.Field(i)), open(got.Field(i))
		switch {
		case f.Ignored[structName+"."+field.Name] != "":
		case a.Kind() == reflect.Struct && f.Values[field.Name] == nil:
			f.same(t, a, b)
		case a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Struct:
			require.Equal(t, a.Len(), b.Len(), "%s.%s", structName, field.Name)
		default:
			require.False(t, a.IsZero(), "%s.%s has no value", structName, field.Name)
			require.Equal(t, a.Interface(), b.Interface(), "%s.%s is lost", structName, field.Name)
		}
	}
}

// open makes a field that is not exported readable and settable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
