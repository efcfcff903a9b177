package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// refusal is a response with a status other than 200.
type refusal struct {
	status int
	body   string
}

// refusingHome returns a home whose provider refuses the first requests, and the number of its requests.
func refusingHome(t *testing.T, settings string, first ...refusal) (string, *atomic.Int32) {
	t.Helper()
	requests := new(atomic.Int32)
	server := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		if n := int(requests.Add(1)); n <= len(first) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(first[n-1].status)
			_, _ = fmt.Fprint(w, first[n-1].body)
			return
		}
		apptest.TextAnswer("Here.")(w)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	apptest.WriteConfig(t, home, fmt.Sprintf("model = \"test\"\nmodel_provider = \"test\"\n[model_providers.test]\n"+
		"base_url = %q\nwire_api = \"chat\"\n%s", server.URL+"/v1", settings))
	return home, requests
}

// TestDelaysThatBodiesNameAreWaitedFor: the provider names a delay in each of the usual forms.
func TestDelaysThatBodiesNameAreWaitedFor(t *testing.T) {
	t.Parallel()
	home, requests := refusingHome(t, "",
		refusal{429, `{"error":{"message":"Rate limit reached for m. Please try again in 11ms.","code":"rate_limit_exceeded"}}`},
		refusal{429, `[{"error":{"code":429,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo",` +
			`"retryDelay":"0.012s"}]}}]`},
		refusal{503, `{"error":{"message":"busy","retry_after_ms":13}}`})
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Equal(t, "completed", c.Turn(c.StartTrusted(), "go").Status)
	require.Equal(t, int32(4), requests.Load())
	require.Len(t, c.Notifications("error"), 3)
}

// TestLongDelaysEndTheTurn: the user learns the time instead of waiting for it.
func TestLongDelaysEndTheTurn(t *testing.T) {
	t.Parallel()
	home, requests := refusingHome(t, "",
		refusal{429, `{"error":{"message":"Tokens per day reached. Please try again in 34m56s."}}`},
		refusal{429, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-09-09"}}`})
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	turn := c.Turn(thread, "go")
	require.Equal(t, "failed", turn.Status)
	require.Contains(t, turn.Error.Message, "The provider asks to wait 34m56s, until 20")
	turn = c.Turn(thread, "go")
	require.Equal(t, "failed", turn.Status)
	require.Contains(t, turn.Error.Message, "Your limit will reset at 2026-09-09")
	require.Equal(t, int32(2), requests.Load())
	require.Equal(t, "completed", c.Turn(thread, "go").Status)
	var kinds []string
	for _, m := range c.Notifications("error") {
		kinds = append(kinds, gjson.GetBytes(m.Params, "error.codexErrorInfo").Str)
	}
	require.Equal(t, []string{"rateLimitExceeded", "usageLimitExceeded"}, kinds)
}

// TestLoadingModelIsAwaited: llama-server answers so until the model is loaded. It takes none of the retries.
func TestLoadingModelIsAwaited(t *testing.T) {
	t.Parallel()
	loading := refusal{503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`}
	home, requests := refusingHome(t, "request_max_retries = 0\nstream_max_retries = 0\n", loading)
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Equal(t, "completed", c.Turn(c.StartTrusted(), "go").Status)
	require.Equal(t, int32(2), requests.Load())
	notices := c.Notifications("error")
	require.Len(t, notices, 1)
	require.True(t, gjson.GetBytes(notices[0].Params, "willRetry").Bool())
	require.Contains(t, gjson.GetBytes(notices[0].Params, "error.message").Str, "Waiting for the model to load")
}
