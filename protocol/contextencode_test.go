package protocol_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// appender is a value with an encoder of its own.
type appender interface {
	AppendJSON(b []byte) ([]byte, error)
	JSONSize() int
}

func TestTheEncodingOfContextItemsIsThatOfMarshal(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[protocol.ContextGetItemsResponse](),
		reflect.TypeFor[protocol.ContextItemsNotification]()} {
		sample.Check(t, func(t *rapid.T) {
			v := builder{drawn{t}}.value(of).Interface()
			want, err := protocol.Marshal(v)
			require.NoError(t, err)
			got, err := v.(appender).AppendJSON([]byte("before "))
			require.NoError(t, err)
			require.Equal(t, "before "+string(want), string(got))
			require.Positive(t, v.(appender).JSONSize())
		})
	}
}
