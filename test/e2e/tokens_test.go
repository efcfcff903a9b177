package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer/codec"

	"appserver/protocol"
	"appserver/test/apptest"
)

// meter is a provider that counts tokens and reports them multiplied by a factor.
type meter struct {
	server   *httptest.Server
	count    func(text string) int
	factor   float64
	reported atomic.Int64 // input tokens of the last request
}

func newMeter(t *testing.T, count func(string) int, factor float64) *meter {
	m := &meter{count: count, factor: factor}
	m.server = httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.reported.Store(int64(float64(m.request(gjson.ParseBytes(body))) * factor))
		w.Header().Set("Content-Type", "text/event-stream")
		m.answer(w, gjson.ParseBytes(body))
	}))
	t.Cleanup(m.server.Close)
	return m
}

// request counts a request as OpenAI documents it: 3 tokens for each message in addition to its
// parts, 3 for the start of the answer, and the tools as function declarations.
func (m *meter) request(r gjson.Result) int {
	n := 3
	for _, message := range r.Get("messages").Array() {
		n += 3 + m.count(message.Get("role").Str) + m.count(message.Get("content").Str)
		for _, call := range message.Get("tool_calls").Array() {
			n += 3 + m.count(call.Get("function.name").Str) + m.count(call.Get("function.arguments").Str)
		}
	}
	for _, tool := range r.Get("tools").Array() {
		n += 7 + m.count(tool.Get("function.name").Str+":"+tool.Get("function.description").Str)
		tool.Get("function.parameters.properties").ForEach(func(name, property gjson.Result) bool {
			n += 6 + m.count(name.Str+":"+property.Get("type").Str+":"+property.Get("description").Str)
			return true
		})
		n += 12
	}
	return n
}

// answer runs the command in the user's message, and repeats the message.
func (m *meter) answer(w io.Writer, r gjson.Result) {
	messages := r.Get("messages").Array()
	last := messages[len(messages)-1]
	usage := fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":%d}}`+"\n\n",
		m.reported.Load(), m.reported.Load()+1)
	said := apptest.LastParagraph(last.Get("content").Str)
	if script, ok := strings.CutPrefix(said, "run: "); ok {
		arguments, err := json.Marshal(apptest.Object{"command": script})
		if err != nil {
			panic(err) // impossible: a string
		}
		call := apptest.Object{"index": 0, "id": fmt.Sprintf("call_%d", len(messages)), "type": "function",
			"function": apptest.Object{"name": "shell", "arguments": string(arguments)}}
		fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"role": "assistant", "tool_calls": []apptest.Object{call}}, nil),
			apptest.ChatChunk(apptest.Object{}, "tool_calls"))
	} else {
		fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"role": "assistant",
			"content": "You said: " + said},
			nil), apptest.ChatChunk(apptest.Object{}, "stop"))
	}
	fmt.Fprint(w, usage, "data: [DONE]\n\n")
}

// languages are texts of the kinds that conversations contain.
var languages = []string{
	"The quick brown fox jumps over the lazy dog, and the parser takes what it can and says where it stopped.",
	"Der Zug nach Königsberg fährt heute ausnahmsweise von Gleis dreizehn; Fahrgäste werden gebeten, überflüssiges Gepäck abzugeben.",
	"Съешь ещё этих мягких французских булок, да выпей чаю, пока сервер перечитывает журнал.",
	"服务器在回答之前先把每一行写入磁盘，这样客户端听到的内容不会因为崩溃而丢失。",
	"サーバーは答える前にすべての行をディスクに書き込みます。",
	"يكتب الخادم كل سطر على القرص قبل أن يجيب، فلا يضيع شيء مما قيل للعميل.",
	"func (h *history) list() []int {\n\tplaces := make([]int, 0, len(h.items))\n\tfor i := range h.items {\n\t\tif h.items[i].listed() {\n\t\t\tplaces = append(places, i)\n\t\t}\n\t}\n\treturn places\n}",
	`{"id":7,"method":"context/setInclusion","params":{"threadId":"01a1fdec-a59f-7270-ac57-000000000001","ids":["r12"],"included":false}}`,
}

func counterOf(c *codec.Codec) func(string) int {
	return func(text string) int {
		n, err := c.Count(text)
		if err != nil {
			panic(err) // impossible: it has no error
		}
		return n
	}
}

// TestTokenCountsEqualProviders compares counts with the provider's usage, in several languages and
// on code. If the tokenizer is the model's, a request is counted exactly in advance. Otherwise the
// count is corrected by the first report.
func TestTokenCountsEqualProviders(t *testing.T) {
	t.Parallel()
	for model, meter := range map[string]func(t *testing.T) *meter{
		"gpt-5":       func(t *testing.T) *meter { return newMeter(t, counterOf(codec.NewO200kBase()), 1) },
		"gpt-4":       func(t *testing.T) *meter { return newMeter(t, counterOf(codec.NewCl100kBase()), 1) },
		"local-large": func(t *testing.T) *meter { return newMeter(t, counterOf(codec.NewCl100kBase()), 1.3) },
		"local-small": func(t *testing.T) *meter {
			return newMeter(t, func(text string) int { return (len(text) + 2) / 3 },
				1)
		},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			m := meter(t)
			home := t.TempDir()
			apptest.WriteConfig(t, home,
				fmt.Sprintf("model = %q\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = %q\nwire_api = \"chat\"\n",
					model, m.server.URL+"/v1"))
			c := apptest.StartServer(t, home)
			c.Initialize()
			thread := c.StartTrusted()
			c.Turn(thread, "the first report")
			for _, text := range append(languages, "run: cat "+bigFile(t)) {
				before := promptTokens(c, thread)
				c.Turn(thread, text)
				message, after := lastMessage(c.ContextList(thread))
				counted := before + message
				if strings.HasPrefix(model, "local") {
					counted = promptTokens(c, thread) - after
				}
				requireClose(t, counted, firstReport(t, c), text)
			}
			c.Close()
		})
	}
}

// lastMessage returns the price of the last user message, and of the items after it.
func lastMessage(list protocol.ContextGetItemsResponse) (message, after int64) {
	for _, item := range list.Items {
		if item.Category == protocol.CategoryUserMessage {
			message, after = item.Tokens, 0
		} else {
			after += item.Tokens
		}
	}
	return message, after
}

func requireClose(t *testing.T, counted, reported int64, text string) {
	t.Helper()
	off := math.Abs(float64(counted-reported)) / float64(reported)
	require.LessOrEqual(t, off, 0.05, "%q: counted %d, reported %d", text[:20], counted, reported)
}

// bigFile returns a file of code, the longest text of the conversation.
func bigFile(t *testing.T) string {
	text, err := os.ReadFile(apptest.Root("cmd/appserver/main.go"))
	require.NoError(t, err)
	path := t.TempDir() + "/main.go"
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// firstReport returns the notified usage of the last turn's first request.
func firstReport(t *testing.T, c *apptest.Client) (input int64) {
	t.Helper()
	started := false
	for _, m := range c.Seen {
		switch {
		case m.Method == "turn/started":
			started, input = true, 0
		case started && input == 0 && m.Method == "thread/tokenUsage/updated":
			input = gjson.GetBytes(m.Params, "tokenUsage.last.inputTokens").Int()
		}
	}
	require.Positive(t, input)
	return input
}

// TestTokenCountsOfItemsAreExact compares each message with the tokenizer's library.
func TestTokenCountsOfItemsAreExact(t *testing.T) {
	t.Parallel()
	count := counterOf(codec.NewO200kBase())
	m := newMeter(t, count, 1)
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = \"gpt-5\"\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = %q\nwire_api = \"chat\"\n", m.server.URL+"/v1"))
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	for _, text := range languages {
		c.Turn(thread, text)
	}
	const frame = 4 // start, role and end of a message
	var got, want []int64
	for _, item := range c.ContextList(thread).Items {
		if item.Category == protocol.CategoryUserMessage || item.Category == protocol.CategoryAssistantMessage {
			got = append(got, item.Tokens)
		}
	}
	for _, text := range languages {
		want = append(want, int64(count(text)+frame), int64(count("You said: "+text)+frame))
	}
	require.Equal(t, want, got)
	c.Close()
}
