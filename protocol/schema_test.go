package protocol_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/schema/conform"
)

func schemas(t testing.TB) *conform.Schemas {
	t.Helper()
	s, err := conform.Own()
	require.NoError(t, err)
	return s
}

// messages returns all types with a schema file of their own, by its name.
func messages() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, m := range protocol.Methods() {
		all[m.Params.Name()] = m.Params
		all[conform.ResultName(m)] = m.Result
	}
	for _, n := range protocol.Notifications() {
		all[n.Params.Name()] = n.Params
	}
	for _, r := range protocol.ServerRequests() {
		all[r.Params.Name()], all[r.Result.Name()] = r.Params, r.Result
	}
	return all
}

func TestMessagesFitTheirSchema(t *testing.T) {
	s := schemas(t)
	choosers := []chooser{bare{}}
	for i := range 8 {
		choosers = append(choosers, full{i})
	}
	for name, goType := range messages() {
		for _, c := range choosers {
			b, err := protocol.Marshal(builder{c}.value(goType).Interface())
			require.NoError(t, err, name)
			require.NoError(t, s.Validate(name, b), "%s: %s", name, b)
		}
	}
}

func TestErrorsFitTheirSchema(t *testing.T) {
	s := schemas(t)
	for _, e := range []*protocol.Error{
		protocol.Refuse(protocol.KindTurnActive, "a turn is active"),
		protocol.InvalidParams("a.b", "wrong"),
		protocol.Internal(protocol.KindStorage, "disk full"),
	} {
		b, err := protocol.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": e})
		require.NoError(t, err)
		require.NoError(t, s.Validate("ErrorResponse", b))
	}
}

func TestAnswersAndNotificationsWriteEveryMember(t *testing.T) {
	var types []reflect.Type
	for _, m := range protocol.Methods() {
		types = append(types, m.Result)
	}
	for _, n := range protocol.Notifications() {
		types = append(types, n.Params)
	}
	for _, r := range protocol.ServerRequests() {
		types = append(types, r.Params)
	}
	types = slices.DeleteFunc(types, func(t reflect.Type) bool { return t.Kind() != reflect.Struct })
	for _, goType := range types {
		for _, b := range []builder{{bare{}}, {full{}}} {
			var members map[string]json.RawMessage
			encoded, err := protocol.Marshal(b.value(goType).Interface())
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(encoded, &members))
			for _, name := range memberNames(goType) {
				require.Contains(t, members, name, "%v: %s", goType, encoded)
			}
		}
	}
}

// memberNames returns the members of a struct that are always written, with those of embedded structs.
func memberNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, memberNames(f.Type)...)
		case options != "omitempty":
			names = append(names, name)
		}
	}
	return names
}

// TestPathOfAConfigWarningIsLeftOut expects no null, because strict clients reject it.
func TestPathOfAConfigWarningIsLeftOut(t *testing.T) {
	require.Equal(t, `{"summary":"s","details":null}`, string(encode(t, protocol.ConfigWarningNotification{Summary: "s"})))
	path := "/config.toml"
	require.Equal(t, `{"summary":"s","details":null,"path":"/config.toml"}`,
		string(encode(t, protocol.ConfigWarningNotification{Summary: "s", Path: &path})))
}

func TestOptionalParamsAreMarked(t *testing.T) {
	for _, m := range protocol.Methods() {
		for i := range m.Params.NumField() {
			f := m.Params.Field(i)
			if f.Type.Kind() == reflect.Pointer {
				require.Contains(t, f.Tag.Get("json"), ",omitempty", "%v.%s would be required", m.Params, f.Name)
			}
		}
	}
}

func TestParamsSurviveTheWire(t *testing.T) {
	for _, m := range protocol.Methods() {
		for i := range 4 {
			want := builder{full{i}}.value(m.Params).Interface()
			encoded, err := protocol.Marshal(want)
			require.NoError(t, err)
			got := reflect.New(m.Params)
			require.NoError(t, protocol.DecodeParams(encoded, got.Interface()), "%s: %s", m.Name, encoded)
			require.Equal(t, want, got.Elem().Interface(), m.Name)
		}
	}
}

func TestResultsSurviveTheWire(t *testing.T) {
	for name, goType := range messages() {
		t.Run(name, func(t *testing.T) {
			for i := range 8 {
				want := string(encode(t, builder{full{i}}.value(goType).Interface()))
				got := reflect.New(goType)
				require.NoError(t, json.Unmarshal([]byte(want), got.Interface()))
				require.Equal(t, want, string(encode(t, got.Elem().Interface())))
			}
		})
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := protocol.Marshal(v)
	require.NoError(t, err)
	return b
}
