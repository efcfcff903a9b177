package index

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"appserver/platform/database"
	"appserver/rollout"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread(`"source":"cli"`, "Fix the parser", strings.Repeat("x ", 50)+"The Zebra\nis here."+
		strings.Repeat(" y", 100)))
	r.put(r.path(2), thread(`"source":"exec"`, "second", "about zebra and ZEBRA", "zebra again", "yes"))
	r.put(r.path(3), thread("", "zebras first", "nothing"))
	r.put(r.path(4), thread("", "漢字テスト", `a "quoted" word, 100% sure; ÄRGER`))
	r.put(r.path(5), thread("", "<environment_context>zebra", "hm")+
		item("user", "input_text", "<environment_context>zebra"))
	r.put(strings.Replace(r.path(6), "sessions", "archived_sessions", 1), thread("", "old zebra"))
	require.NoError(t, r.store.AppendName(idOf(4), "The zebra plan", begin))
	long := "... " + strings.Repeat("x ", 22) + "The Zebra is here." + strings.Repeat(" y", 49) + " ..."
	for name, c := range map[string]struct {
		q    rollout.Query
		want string
	}{
		"by time": {rollout.Query{Search: "Zebra"},
			"<environment_context>zebra, 漢字テスト, zebras first, about zebra and ZEBRA, " + long},
		"ascending": {rollout.Query{Search: "zebra", Ascending: true, Limit: 1}, long},
		"best first": {rollout.Query{Search: "zebra", SortKey: rollout.SortRelevance,
			Sources: []string{"cli", "exec"}}, "about zebra and ZEBRA, " + long},
		"previews first": {rollout.Query{Search: "zebra", SortKey: rollout.SortRelevance, Limit: 3},
			"<environment_context>zebra, zebras first, 漢字テスト"},
		"source":               {rollout.Query{Search: "zebra", Sources: []string{"exec"}}, "about zebra and ZEBRA"},
		"within words":         {rollout.Query{Search: "EBR", Sources: []string{"exec"}}, "about zebra and ZEBRA"},
		"several words":        {rollout.Query{Search: "bra and ze"}, "about zebra and ZEBRA"},
		"letters, not in turn": {rollout.Query{Search: "zebrazebra"}, ""},
		"quotes":               {rollout.Query{Search: `a "quoted" w`}, `a "quoted" word, 100% sure; ÄRGER`},
		"no wildcards":         {rollout.Query{Search: "100_ sure"}, ""},
		"other scripts":        {rollout.Query{Search: "字テス"}, "漢字テスト"},
		"two letters":          {rollout.Query{Search: "字テ"}, "漢字テスト"},
		"case of two letters":  {rollout.Query{Search: "är"}, `a "quoted" word, 100% sure; ÄRGER`},
		"case of all letters":  {rollout.Query{Search: "ärger"}, `a "quoted" word, 100% sure; ÄRGER`},
		"archived":             {rollout.Query{Search: "zebra", Archived: true}, "old zebra"},
		"nothing":              {rollout.Query{Search: "unheard of"}, ""},
		"NUL":                  {rollout.Query{Search: "a\x00bcd"}, ""},
		"excluded": {rollout.Query{Search: "zebra", Excluded: []string{idOf(1), idOf(2), idOf(3), idOf(4)}},
			"<environment_context>zebra"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, snippets(r.search(c.q)))
		})
	}
}

// TestSearchIsPaged checks that pages of each order have the threads of one large page.
func TestSearchIsPaged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 9 {
		texts := []string{"q"}
		for range n % 4 {
			texts = append(texts, "an answer", "go on")
		}
		r.put(r.path(n), thread("", texts...))
	}
	for _, key := range []rollout.SortKey{"", rollout.SortUpdated, rollout.SortRelevance} {
		q := rollout.Query{Search: "answer", SortKey: key}
		var want, got []string
		for _, h := range r.search(q).Hits {
			want = append(want, h.ID)
		}
		require.Len(t, want, 6)
		q.Limit = 2
		for range 3 {
			page := r.search(q)
			for _, h := range page.Hits {
				got = append(got, h.ID)
			}
			q.Cursor = page.NextCursor
		}
		require.Equal(t, want, got)
		require.Empty(t, q.Cursor)
	}
	_, err := r.ix.Search(r.context(), rollout.Query{Search: "x", Cursor: "bad"})
	var cursor *rollout.CursorError
	require.ErrorAs(t, err, &cursor)
}

// TestEveryLetterIsFoundInAnyCase has words with each letter that has a lower case.
func TestEveryLetterIsFoundInAnyCase(t *testing.T) {
	t.Parallel()
	var words []string
	for c := rune(1); c <= unicode.MaxRune; c++ {
		if unicode.ToLower(c) != c {
			words = append(words, "qx"+string(c)+"xq")
		}
	}
	r := newRig(t)
	texts := []string{"the words"}
	for _, word := range words { // each is all that a message has of its letters
		texts = append(texts, "a "+word)
	}
	r.put(r.path(1), thread("", texts...))
	r.built()
	for _, word := range words {
		condition, value := candidates(strings.ToLower(word))
		var text string
		require.NoError(t, r.ix.db.Read.QueryRow("SELECT text FROM messages WHERE "+condition, value).Scan(&text), "%+q",
			word)
		require.Equal(t, strings.ToLower("a "+word), strings.ToLower(text))
	}
	r.put(r.path(2), thread("", "second", "İzmir", "x", "DİYARBAKIR ve İSTANBUL", "300 \u212a"))
	require.Equal(t, "DİYARBAKIR ve İSTANBUL", snippets(r.search(rollout.Query{Search: "İSTANBUL"})))
	require.Equal(t, "DİYARBAKIR ve İSTANBUL", snippets(r.search(rollout.Query{Search: "istanbul"})))
	require.Equal(t, "İzmir", snippets(r.search(rollout.Query{Search: "iz"})))
	require.Equal(t, "300 \u212a", snippets(r.search(rollout.Query{Search: "0 k"})))
	r.requireSound(len(texts) + 5)
}

// TestASnippetShowsTheMatch has letters whose lower case is shorter, and ones whose is longer.
func TestASnippetShowsTheMatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread("", strings.Repeat("İ", 300)+" needle "+strings.Repeat("İ", 300)))
	r.put(r.path(2), thread("", strings.Repeat("Ⱥ", 300)+" needle "+strings.Repeat("Ⱥ", 300)))
	hits := r.search(rollout.Query{Search: "needle"}).Hits
	require.Len(t, hits, 2)
	for _, h := range hits {
		require.Contains(t, h.Snippet, " needle ")
	}
}

func TestToolCallsAreFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread("", "build it")+
		`{"timestamp":"","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":\"make bench\"}","call_id":"c"}}`+"\n"+
		`{"timestamp":"","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"a secret"}}`+
		"\n")
	require.Equal(t, `{"command":"make bench"}`, snippets(r.search(rollout.Query{Search: "make bench"})))
	require.Empty(t, r.search(rollout.Query{Search: "a secret"}).Hits)
}

func TestADamagedIndexIsFoundByASearch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(r.path(1), thread("", "the question"))
	r.built()
	_, err := r.ix.db.Write.Exec("UPDATE found_data SET block = x'00000001ff7f7f7f7f7f7f7f7f' WHERE id = 10")
	require.NoError(t, err)
	r.reopen()
	r.built()
	_, err = r.ix.Search(r.context(), rollout.Query{Search: "question"})
	require.ErrorIs(t, err, rollout.ErrNoIndex)
	require.Len(t, r.search(rollout.Query{Search: "question"}).Hits, 1, "another was made")
	require.FileExists(t, r.file()+database.DamagedSuffix)
}

// TestSearchesLeaveAConnectionToLists has more searches at once than there are connections.
func TestSearchesLeaveAConnectionToLists(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 60 {
		r.put(r.path(n), thread("", slices.Repeat([]string{strings.Repeat("漢字テスト ", 300), "x"}, 10)...))
	}
	r.built()
	var searches sync.WaitGroup
	for range 6 {
		searches.Go(func() { r.search(rollout.Query{Search: "無字"}) })
	}
	for range 10 {
		r.list(rollout.Query{Limit: 1})
	}
	searches.Wait()
	require.Zero(t, r.ix.db.Read.Stats().WaitCount, "no query waited for a connection")
	require.Equal(t, 2, r.ix.db.Read.Stats().MaxOpenConnections)
}

func TestAListFindsTermsOfEachLength(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const preview = "Répare the lighthouse"
	r.put(r.path(0), thread(`"id":"x"`, preview))
	r.put(r.path(1), thread(`"id":"y"`, "light hthouse"))
	r.built()
	runes := []rune(preview)
	for end := range len(runes) + 1 {
		for from := range end {
			term := string(runes[from:end])
			require.Contains(t, previews(r.list(rollout.Query{Search: term})), preview, term)
		}
	}
	require.Equal(t, preview, previews(r.list(rollout.Query{Search: "lighthouse"})), "the other has its parts only")
}
