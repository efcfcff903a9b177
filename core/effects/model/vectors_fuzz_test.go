package model_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"

	"github.com/stretchr/testify/require"
)

// FuzzVectors gives arbitrary bytes as the body of an answer to those who want vectors: there is
// one for each text, or an error that people can read.
func FuzzVectors(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1e3]}]}`,
		`{"data":[{"embedding":[1]},{"embedding":[]}]}`,
		`{"data":[{"index":7,"embedding":[1]},{"index":-1,"embedding":null}]}`, `{"data":[{"embedding":"AACAPw=="},{}]}`,
		`{"data":[{"embedding":[1e300]},{}]}`,
		`{"error":{"message":"no"}}`, "null", "[", "\xff", `{"data":{}}`, `{"data":[[[[[[`,
	} {
		f.Add(byte(0), []byte(body))
	}
	f.Add(byte(1), []byte(`{"error":{"message":"too long","code":"\ud800"}}`))
	f.Add(byte(2), []byte("<html>"))
	statuses := []int{200, 400, 413, 422} // of which none is asked again
	f.Fuzz(func(t *testing.T, status byte, body []byte) {
		answer := modeltest.FixedAnswer{Status: statuses[int(status)%len(statuses)], Body: string(body)}
		e := model.NewEmbeddings(model.Endpoint{Name: "fuzz", BaseURL: "http://memory", Transport: answer}, "small", 0)
		vectors, err := e.Embed(t.Context(), []string{"one", "two"})
		if err == nil {
			require.Equal(t, 200, answer.Status)
			require.Len(t, vectors, 2)
			return
		}
		var failed *model.EmbedError
		require.True(t, errors.As(err, &failed), "%T", err)
		require.NotEmpty(t, failed.Error())
		require.True(t, utf8.ValidString(failed.Error()), "%q", failed.Error())
		require.Less(t, utf8.RuneCountInString(failed.Error()), 1400)
		require.Nil(t, vectors)
	})
}
