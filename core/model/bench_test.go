package model_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/model"
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

// memoryProvider answers every request with this stream, without a network.
func memoryProvider(stream string) *model.OpenAI {
	return model.NewOpenAI(model.Endpoint{Name: "memory", BaseURL: "http://memory/v1", Transport: roundTrip(
		func(req *http.Request) (*http.Response, error) {
			return streamResponse(io.NopCloser(strings.NewReader(stream))), nil
		})})
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

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// streamResponse is an event stream with this body.
func streamResponse(body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       body,
	}
}
