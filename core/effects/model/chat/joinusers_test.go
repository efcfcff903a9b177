package chat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
)

// TestManyNeighboursAreJoinedAtOnce has 20,000 messages of the user in a row. The memory that their joined message
// takes on its way is a small multiple of its size.
func TestManyNeighboursAreJoinedAtOnce(t *testing.T) {
	p := &core.Prompt{}
	text := strings.Repeat("x", 200)
	for range 20_000 {
		p.Items = append(p.Items, modeltest.Items(modeltest.Say(protocol.RoleUser, text))...)
	}
	var messages []Message
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			messages = Messages(p)
		}
	})
	require.Len(t, messages, 1)
	require.Len(t, messages[0].Content.Text, 20_000*202-2)
	require.Less(t, result.AllocedBytesPerOp(), int64(200<<20))
}

// TestNamesOfCallsCountForTheSizeOfAnAnswer has calls whose names alone are too large.
func TestNamesOfCallsCountForTheSizeOfAnAnswer(t *testing.T) {
	a := newAssembly(&core.Prompt{}, func(core.Piece) {})
	name := strings.Repeat("n", 8<<20)
	var err error
	for i := 0; i < 8 && err == nil; i++ {
		err = a.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"id":"` + string(rune('a'+i)) + `","function":{"name":"` + name + `"}}]}}]}`))
	}
	require.Error(t, err)
}

// TestACallWithoutArgumentsIsNotThePieceOfTheNext has two whole calls at one index, the first without arguments.
func TestACallWithoutArgumentsIsNotThePieceOfTheNext(t *testing.T) {
	a := newAssembly(&core.Prompt{}, func(core.Piece) {})
	require.NoError(t, a.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":""}}]}}]}`)))
	require.NoError(t, a.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"list","arguments":"{\"p\":1}"}}]},"finish_reason":"tool_calls"}]}`)))
	answer, err := a.Answer()
	require.NoError(t, err)
	require.Len(t, answer.Calls, 2)
	require.Equal(t, `{"p":1}`, answer.Calls[1].Arguments)
}
