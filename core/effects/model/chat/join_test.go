package chat_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model/modeltest"
)

// TestTextsThatCameAtOnceAreJoined has a provider that sends many texts at once, and sends no more before it
// knows that all of them were passed on.
func TestTextsThatCameAtOnceAreJoined(t *testing.T) {
	const count, single = 5000, 500 // the first ones are passed on as they come
	var want strings.Builder
	stream := event(`{"reasoning_content":"why"}`)
	for i := range count {
		text := "text " + strconv.Itoa(i) + `, \"quoted\"\n`
		stream += event(`{"content":"` + text + `"}`)
		want.WriteString("text " + strconv.Itoa(i) + ", \"quoted\"\n")
	}
	all := make(chan struct{})
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, stream)
		w.(http.Flusher).Flush()
		<-all
		_, _ = io.WriteString(w, event(`{"reasoning_content":"then"}`)+event(`{"content":"end"}`)+stop+done)
	})
	var got strings.Builder
	var pieces []core.Piece
	_, err := client.Stream(t.Context(), modeltest.UserSays("hi"), func(p core.Piece) {
		pieces = append(pieces, p)
		if p.Kind == core.PieceText {
			got.WriteString(p.Text)
			if got.Len() == want.Len() {
				close(all)
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, want.String()+"end", got.String())
	require.Equal(t, core.Piece{Kind: core.PieceReasoning, Text: "why"}, pieces[0])
	require.Equal(t, "text 0, \"quoted\"\n", pieces[1].Text)
	require.Equal(t, "text 498, \"quoted\"\n", pieces[single-1].Text)
	require.Less(t, len(pieces), count/2)
	require.Equal(t, []core.Piece{{Kind: core.PieceReasoning, Text: "then"}, {Kind: core.PieceText, Text: "end"}},
		pieces[len(pieces)-2:])
}
