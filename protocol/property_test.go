package protocol_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// drawn values hold what rapid draws.
type drawn struct{ *rapid.T }

func (d drawn) some() bool    { return rapid.Bool().Draw(d.T, "some") }
func (d drawn) length() int   { return rapid.IntRange(0, 3).Draw(d.T, "length") }
func (d drawn) one(n int) int { return rapid.IntRange(0, n-1).Draw(d.T, "one") }
func (d drawn) text() string  { return rapid.String().Draw(d.T, "text") }
func (d drawn) number() int64 { return int64(rapid.Uint32().Draw(d.T, "number")) }

func TestUnionsSurviveTheWire(t *testing.T) {
	for _, u := range allUnions() {
		t.Run(u.Type.Name(), func(t *testing.T) {
			sample.Check(t, func(t *rapid.T) {
				want := builder{drawn{t}}.value(u.Type).Interface()
				requireSurvives(t, want)
			})
		})
	}
}

func TestTypesWithOwnJSONSurviveTheWire(t *testing.T) {
	for _, goType := range []reflect.Type{
		reflect.TypeFor[protocol.AskForApproval](), reflect.TypeFor[protocol.ApprovalDecision](),
		reflect.TypeFor[protocol.CodexErrorInfo](), reflect.TypeFor[protocol.CommandAction](),
		reflect.TypeFor[protocol.WebSearchAction](),
		reflect.TypeFor[protocol.ToolOutput](), reflect.TypeFor[protocol.ApprovalsReviewer](),
		reflect.TypeFor[protocol.SandboxMode](), reflect.TypeFor[protocol.ContentItem](),
	} {
		t.Run(goType.Name(), func(t *testing.T) {
			sample.Check(t, func(t *rapid.T) {
				requireSurvives(t, builder{drawn{t}}.value(goType).Interface())
			})
		})
	}
}

// requireSurvives decodes what was encoded and expects the same value.
func requireSurvives(t *rapid.T, want any) {
	encoded, err := protocol.Marshal(want)
	require.NoError(t, err)
	got := reflect.New(reflect.TypeOf(want))
	require.NoError(t, json.Unmarshal(encoded, got.Interface()), "%s", encoded)
	require.Equal(t, want, got.Elem().Interface(), "%s", encoded)
}

func TestParamsSurviveDecoding(t *testing.T) {
	for _, m := range protocol.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			sample.Check(t, func(t *rapid.T) {
				encoded, err := protocol.Marshal(builder{drawn{t}}.value(m.Params).Interface())
				require.NoError(t, err)
				got := reflect.New(m.Params)
				require.NoError(t, protocol.DecodeParams(encoded, got.Interface()), "%s", encoded)
				again, err := protocol.Marshal(got.Interface())
				require.NoError(t, err)
				require.Equal(t, string(encoded), string(again))
			})
		})
	}
}

func TestEveryMessageFitsItsSchema(t *testing.T) {
	s := schemas(t)
	for name, goType := range messages() {
		t.Run(name, func(t *testing.T) {
			sample.Check(t, func(t *rapid.T) {
				encoded, err := protocol.Marshal(builder{drawn{t}}.value(goType).Interface())
				require.NoError(t, err)
				require.NoError(t, s.Validate(name, encoded), "%s", encoded)
			})
		})
	}
}

func TestLeavingOutARequiredParamIsRefused(t *testing.T) {
	for _, m := range protocol.Methods() {
		for _, field := range reflect.VisibleFields(m.Params) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if options != "" || field.Anonymous {
				continue
			}
			var members map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(encode(t, builder{bare{}}.value(m.Params).Interface()), &members))
			delete(members, name)
			err := protocol.DecodeParams(encode(t, members), reflect.New(m.Params).Interface())
			requireRefusal(t, err, "missing field `"+name+"`", name)
		}
	}
}

func TestStoredPoliciesSurviveTheFile(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		want := builder{drawn{t}}.value(reflect.TypeFor[protocol.SandboxPolicy]()).Interface().(protocol.SandboxPolicy)
		line, err := protocol.Marshal(want.Stored())
		require.NoError(t, err)
		var stored protocol.StoredSandboxPolicy
		require.NoError(t, json.Unmarshal(line, &stored))
		require.Equal(t, want, stored.Policy(), "%s", line)
	})
}
