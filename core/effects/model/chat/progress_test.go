package chat_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
)

func progress(report string) string {
	return `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],` +
		`"object":"chat.completion.chunk","prompt_progress":` + report + "}\n\n"
}

func read(total, cached, processed, time int64) protocol.PromptProgress {
	return protocol.PromptProgress{TotalTokens: total, CachedTokens: cached, ProcessedTokens: processed, TimeMs: time}
}

const helloEnd = `data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

// TestPromptProgress passes reports on, within what a prompt can have, and at most a hundred.
func TestPromptProgress(t *testing.T) {
	for name, tt := range map[string]struct {
		reports string
		want    []protocol.PromptProgress
	}{
		"reports": {
			progress(`{"total":4000,"cache":1000,"processed":1000,"time_ms":0}`) +
				progress(`{"total":4000,"cache":1000,"processed":3048,"time_ms":1500.5}`) +
				progress(`{"total":4000,"cache":1000,"processed":4000,"time_ms":2900}`),
			[]protocol.PromptProgress{read(4000, 1000, 1000, 0), read(4000, 1000, 3048, 1500), read(4000, 1000, 4000, 2900)},
		},
		"counts of no sense": {
			progress(`{"total":0}`) + progress(`{"total":-3,"processed":7}`) + progress(`{"total":1e300}`) + progress(`7`) +
				progress(`null`) + progress(`{"total":10,"cache":99,"processed":50,"time_ms":-1e300}`),
			[]protocol.PromptProgress{read(10, 10, 10, 0)},
		},
		"the same again": {
			strings.Repeat(progress(`{"total":1000000,"processed":500000}`), 1000),
			[]protocol.PromptProgress{read(1_000_000, 0, 500_000, 0)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pieces, _, err := modeltest.Ask(t.Context(), modeltest.FromMemory(chat.New(), tt.reports+helloEnd),
				modeltest.UserSays("hi"))
			require.NoError(t, err)
			var got []protocol.PromptProgress
			for _, p := range pieces {
				if p.Kind == core.PieceProgress {
					got = append(got, *p.Progress)
				}
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, "Hello.", pieces[len(pieces)-1].Text)
		})
	}
}

// TestProgressIsAskedOfLlamaServerOnly sends return_progress after an answer of llama-server, unless it was refused.
func TestProgressIsAskedOfLlamaServerOnly(t *testing.T) {
	for server, want := range map[string][]bool{
		"llama.cpp": {false, true, false, false}, "uvicorn": {false, false, false}, "": {false, false, false},
	} {
		var asked []bool
		provider := modeltest.Serve(t, chat.New(), func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			sent := strings.Contains(string(body), `"return_progress":true`)
			asked = append(asked, sent)
			w.Header().Set("Server", server)
			if sent {
				http.Error(w, `{"error":{"message":"Unknown parameter: 'return_progress'","param":"return_progress"}}`,
					http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, helloEnd)
		})
		for range 3 {
			_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
			require.NoError(t, err)
		}
		require.Equal(t, want, asked, server)
	}
}
