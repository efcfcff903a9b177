package chat_test

import (
	"io"
	"net/http"
	"testing"

	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts an endpoint and makes a provider for it.
func serve(t *testing.T, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *model.Client {
	t.Helper()
	return modeltest.Serve(t, chat.New(), handler, edit...)
}

// readerProvider answers every request with a new reader, without a network.
func readerProvider(body func() io.Reader) *model.Client {
	return modeltest.FromReader(chat.New(), body)
}

// memoryProvider answers every request with this stream, without a network.
func memoryProvider(stream string) *model.Client { return modeltest.FromMemory(chat.New(), stream) }
