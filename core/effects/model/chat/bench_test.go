package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"appserver/core"
)

// BenchmarkStream reports what one text delta costs from the HTTP body to emit.
func BenchmarkStream(b *testing.B) {
	const deltas = 100_000
	body := deltaStream(deltas)
	provider := memoryProvider(body)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n := 0
		if _, err := provider.Stream(b.Context(), &core.Prompt{}, func(core.Piece) { n++ }); err != nil || n != deltas {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
}

func deltaStream(n int) string {
	var body strings.Builder
	for i := range n {
		fmt.Fprintf(&body, `data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"some-model",`+
			`"system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":"token %d "},"logprobs":null,"finish_reason":null}]}`+"\n\n", i)
	}
	body.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return body.String()
}
