package chat_test

import (
	"net/http"
	"testing"

	"appserver/core/model"
	"appserver/core/model/chat"
	"appserver/core/model/modeltest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a provider of an endpoint.
func client(e model.Endpoint) *model.Client { return model.NewClient(e, chat.New()) }

// serve starts an endpoint and makes a provider for it.
func serve(t *testing.T, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *model.Client {
	t.Helper()
	return modeltest.Serve(t, chat.New(), handler, edit...)
}
