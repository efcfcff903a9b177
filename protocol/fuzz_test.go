package protocol_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// seed adds an example of every variant, and broken input.
func seed(f *testing.F, t reflect.Type) {
	for i := range 8 {
		f.Add(encode(f, builder{full{i}}.value(t).Interface()))
	}
	for _, raw := range slices.Concat(unknownItems, unknownInputs) {
		f.Add([]byte(raw))
	}
	for _, raw := range []string{``, `null`, `{}`, `[]`, `5`, `"x"`, `{"type":5}`, `{"a":1,"b":2}`,
		"{\"type\":\"\xff\"}"} {
		f.Add([]byte(raw))
	}
}

// reread decodes b into a T. What can be read can be written, and what was written
// reads as itself.
func reread[T any](t *testing.T, b []byte) (value T, ok bool) {
	if json.Unmarshal(b, &value) != nil {
		return value, false
	}
	written, err := protocol.Marshal(value)
	require.NoError(t, err)
	var again T
	require.NoError(t, json.Unmarshal(written, &again), "%s", written)
	rewritten, err := protocol.Marshal(again)
	require.NoError(t, err)
	require.Equal(t, string(written), string(rewritten))
	return value, true
}

// requireKept expects an unknown variant to be written as it was read, in well-formed text.
func requireKept(t *testing.T, value any, b []byte) {
	var want bytes.Buffer
	require.NoError(t, json.Compact(&want, protocol.ToWellFormed(b)))
	require.Equal(t, want.String(), string(encode(t, value)))
}

func FuzzThreadItem(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.ThreadItem]())
	f.Fuzz(func(t *testing.T, b []byte) {
		item, ok := reread[protocol.ThreadItem](t, b)
		if !ok {
			return
		}
		_ = item.ItemID()
		if _, unknown := item.ThreadItemVariant.(*protocol.Unknown); unknown {
			requireKept(t, item, b)
		}
	})
}

func FuzzResponseItem(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.ResponseItem]())
	f.Fuzz(func(t *testing.T, b []byte) {
		item, ok := reread[protocol.ResponseItem](t, b)
		if ok {
			requireSameWithFurtherMembers(t, item, b)
		}
		if _, unknown := item.ResponseItemVariant.(*protocol.Unknown); ok && unknown {
			requireKept(t, item, b)
		}
	})
}

// requireSameWithFurtherMembers compares the reader of usual items with that of all items.
func requireSameWithFurtherMembers(t *testing.T, item protocol.ResponseItem, b []byte) {
	if _, unknown := item.ResponseItemVariant.(*protocol.Unknown); unknown {
		return
	}
	var further protocol.ResponseItem
	_, members, _ := bytes.Cut(b, []byte("{"))
	require.NoError(t, further.UnmarshalJSON(append([]byte(`{"x":0,`), members...)))
	require.Equal(t, further, item)
}

func FuzzUserInput(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.UserInput]())
	f.Fuzz(func(t *testing.T, b []byte) {
		input, ok := reread[protocol.UserInput](t, b)
		params := append(append([]byte(`{"threadId":"t","input":[`), b...), `]}`...)
		if _, unknown := input.UserInputVariant.(*protocol.Unknown); unknown {
			requireKept(t, input, b)
			require.Error(t, protocol.DecodeParams(params, new(protocol.TurnStartParams)), "params are strict")
		} else if ok {
			require.NoError(t, protocol.DecodeParams(params, new(protocol.TurnStartParams)))
		}
	})
}

func FuzzSandboxPolicy(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.SandboxPolicy]())
	f.Fuzz(func(t *testing.T, b []byte) {
		if policy, ok := reread[protocol.SandboxPolicy](t, b); ok {
			require.IsType(t, policy.SandboxPolicyVariant, policy.Stored().Policy().SandboxPolicyVariant)
		}
	})
}

func FuzzCodexErrorInfo(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.CodexErrorInfo]())
	f.Add([]byte(`{"http_connection_failed":{"http_status_code":500}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if info, ok := reread[protocol.CodexErrorInfo](t, b); ok {
			require.True(t, json.Valid(info.Stored()), "%s", info.Stored())
		}
		if info := protocol.ErrorInfoFromStored(b); info != nil {
			require.True(t, json.Valid(encode(t, info)))
		}
	})
}

func FuzzApprovalDecision(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.ApprovalDecision]())
	f.Fuzz(func(t *testing.T, b []byte) {
		if decision, ok := reread[protocol.ApprovalDecision](t, b); ok {
			require.NotEmpty(t, decision.Word)
		}
	})
}

func FuzzContentItem(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.ContentItem]())
	f.Fuzz(func(t *testing.T, b []byte) {
		if part, ok := reread[protocol.ContentItem](t, b); ok && part.Raw != nil {
			requireKept(t, part, b)
		}
	})
}

func FuzzAskForApproval(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.AskForApproval]())
	f.Add([]byte(`{"granular":{"sandbox_approval":true}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if policy, ok := reread[protocol.AskForApproval](t, b); ok {
			require.Equal(t, policy.Mode == protocol.ApprovalGranular, policy.Granular != nil)
		}
	})
}

func FuzzToolOutput(f *testing.F) {
	seed(f, reflect.TypeFor[protocol.ToolOutput]())
	f.Fuzz(func(t *testing.T, b []byte) {
		if output, ok := reread[protocol.ToolOutput](t, b); ok && output.Parts == nil {
			require.Equal(t, output.Text, output.String())
		}
	})
}

func FuzzDecodeParams(f *testing.F) {
	for i, m := range protocol.Methods() {
		f.Add(i, encode(f, builder{full{i}}.value(m.Params).Interface()))
		f.Add(i, []byte(`{}`))
		f.Add(i, []byte(`{"threadId":5,"input":[{}],"limit":-1,"clientInfo":[],"cwd":{}}`))
		f.Add(i, []byte(`{"threadId":"t","input":[{"type":"text","text":null}],"approvalPolicy":{"granular":{}},"cwd":[null],"sourceKinds":["x"]}`))
	}
	f.Fuzz(func(t *testing.T, row int, b []byte) {
		methods := protocol.Methods()
		m := methods[uint(row)%uint(len(methods))]
		params := reflect.New(m.Params)
		if err := protocol.DecodeParams(b, params.Interface()); err != nil {
			var refusal *protocol.Error
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
			require.Equal(t, protocol.KindInvalidParams, refusal.Data.Kind)
			require.True(t, strings.HasPrefix(refusal.Message, "Invalid request: "), refusal.Message)
			return
		}
		written := encode(t, params.Interface())
		again := reflect.New(m.Params)
		require.NoError(t, protocol.DecodeParams(written, again.Interface()), "%s", written)
		require.Equal(t, string(written), string(encode(t, again.Interface())))
	})
}
