package protocol_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// partAppender is a value with an encoder of its own.
type partAppender interface {
	AppendParts(b []byte, flush protocol.Flush) ([]byte, error)
	JSONSize() int
}

func TestTheEncodingOfContextItemsIsThatOfMarshal(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[protocol.ContextGetItemsResponse](),
		reflect.TypeFor[protocol.ContextItemsNotification]()} {
		sample.Check(t, func(t *rapid.T) {
			v := builder{drawn{t}}.value(of).Interface()
			want, err := protocol.Marshal(v)
			require.NoError(t, err)
			got, err := v.(partAppender).AppendParts([]byte("before "), nil)
			require.NoError(t, err)
			require.Equal(t, "before "+string(want), string(got))
			require.Positive(t, v.(partAppender).JSONSize())
		})
	}
}

func TestALongListOfContextItemsIsFlushedInParts(t *testing.T) {
	items := make([]protocol.ContextItem, 3000)
	for _, list := range []partAppender{protocol.ContextGetItemsResponse{Items: items},
		protocol.ContextItemsNotification{Items: items, RemovedIDs: []string{}}} {
		want, err := protocol.Marshal(list)
		require.NoError(t, err)
		var text strings.Builder
		var parts int
		rest, err := list.AppendParts(nil, joined(&text, &parts))
		require.NoError(t, err)
		require.Equal(t, string(want), text.String()+string(rest))
		require.Equal(t, 2, parts)

		cause := errors.New("the client has gone")
		_, err = list.AppendParts(nil, func(b []byte) ([]byte, error) { return b, cause })
		require.ErrorIs(t, err, cause)
	}
}
