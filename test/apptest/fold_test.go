package apptest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

func TestLongLinesOfTranscriptsAreFoldedBetweenMembers(t *testing.T) {
	item := `{"text":"a, b","list":[1,2]},`
	long := `<- {"id":1,"result":{"data":[` + strings.Repeat(item, 200) + `{"quote":"\",{"}],"next":null}}`
	text := "-> {\"id\":1}\n" + long + "\n~ 1s\n"
	folded := apptest.Fold(text)
	require.Equal(t, text, apptest.Unfold(folded))
	require.Contains(t, folded, "\n   "+item+"\n   "+item+"\n")
	for line := range strings.Lines(folded) {
		require.LessOrEqual(t, len(line), 1000)
	}
	require.Equal(t, folded, apptest.Fold(apptest.Unfold(folded)))
	short := "-> {\"id\":1,\"b\":[1,2]}\n"
	require.Equal(t, short, apptest.Fold(short))
	whole := `<- {"text":"` + strings.Repeat("x, ", 1000) + "\"}\n"
	require.Equal(t, whole, apptest.Fold(whole), "a string is not cut")
}
