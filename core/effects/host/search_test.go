package host_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// project returns a folder with some files.
func project(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		write(t, filepath.Join(dir, name), "")
	}
	return dir
}

func (d *desk) find(query string, roots ...string) []protocol.FuzzyFileSearchResult {
	d.t.Helper()
	return result[protocol.FuzzyFileSearchResponse](d.send(1, "fuzzyFileSearch",
		object{"query": query, "roots": roots})).Files
}

func names(files []protocol.FuzzyFileSearchResult) []string {
	found := []string{}
	for _, f := range files {
		found = append(found, f.Path)
	}
	return found
}

func TestASearchFindsFiles(t *testing.T) {
	d := open(t)
	root := project(t, "cmd/main.go", "cmd/domain.go", "docs/readme.md")
	files := d.find("main", root)
	require.Equal(t, []string{"cmd/main.go", "cmd/domain.go"}, names(files))
	require.Equal(t, protocol.FuzzyFileSearchResult{
		Root: root, Path: "cmd/main.go", MatchType: "file", FileName: "main.go", Score: files[0].Score,
		Indices: []uint32{4, 5, 6, 7},
	}, files[0])
	require.Greater(t, files[0].Score, files[1].Score)
	found := d.find("docs", root)
	require.Equal(t, "directory", found[0].MatchType)
	require.Equal(t, "docs", found[0].FileName)
}

func TestASearchThatFindsNothing(t *testing.T) {
	d := open(t)
	root := project(t, "file")
	for _, roots := range [][]string{{root}, {}, {"/none"}, {filepath.Join(root, "file")}} {
		require.Equal(t, []protocol.FuzzyFileSearchResult{}, d.find("zzz", roots...))
	}
	require.Equal(t, []protocol.FuzzyFileSearchResult{}, d.find("", root), "nothing is looked for")
	d.send(1, "fuzzyFileSearch", object{"roots": []string{}}).refused(protocol.KindInvalidParams)
	d.send(1, "fuzzyFileSearch",
		object{"query": "x", "roots": slices.Repeat([]string{root}, 65)}).refused(protocol.KindInvalidParams)
}

func TestRelativeRootsBeginInTheServersFolder(t *testing.T) {
	d := open(t)
	write(t, filepath.Join(d.options.Cwd, "src/file.go"), "")
	files := d.find("file", "src", ".")
	require.Equal(t, []string{"file.go", "src/file.go"}, names(files))
	require.Equal(t, []string{"src", "."}, []string{files[0].Root, files[1].Root}, "as the client wrote them")
}

func TestASearchInSeveralRootsGivesTheBestOfAll(t *testing.T) {
	d := open(t)
	var a, b []string
	for i := range 60 {
		a, b = append(a, fmt.Sprintf("deep/er/t%dar/get%d", i, i)), append(b, fmt.Sprintf("target%d", i))
	}
	first, second := project(t, a...), project(t, append(b, "target")...)
	files := d.find("target", first, second)
	require.Len(t, files, 50, "no answer is longer")
	require.Equal(t, "target", files[0].Path)
	for _, f := range files {
		require.Equal(t, second, f.Root)
	}
	require.Len(t, d.find("target", first), 50)
}

func TestALaterSearchEndsAnEarlierOne(t *testing.T) {
	d := open(t)
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("d%d/file%d", i%200, i))
	}
	root := project(t, many...)
	var earlier []pending
	for range 50 {
		earlier = append(earlier,
			d.send(1, "fuzzyFileSearch", object{"query": "file", "roots": []string{root}, "cancellationToken": "t"}))
	}
	last := result[protocol.FuzzyFileSearchResponse](d.send(1, "fuzzyFileSearch",
		object{"query": "file7", "roots": []string{root}, "cancellationToken": "t"}))
	require.NotEmpty(t, last.Files)
	ended := 0
	for _, p := range earlier {
		if files := result[protocol.FuzzyFileSearchResponse](p).Files; len(files) == 0 {
			ended++
		}
	}
	require.Positive(t, ended, "each is answered; one that was ended finds nothing")
}

func TestSearchesOfOtherTokensContinue(t *testing.T) {
	d := open(t)
	root := project(t, "file")
	var all []pending
	for i := range 20 {
		all = append(all, d.send(1, "fuzzyFileSearch",
			object{"query": "file", "roots": []string{root}, "cancellationToken": fmt.Sprint(i)}),
			d.send(2, "fuzzyFileSearch", object{"query": "file", "roots": []string{root}, "cancellationToken": fmt.Sprint(i)}),
			d.send(1, "fuzzyFileSearch", object{"query": "file", "roots": []string{root}, "cancellationToken": nil}))
	}
	for _, p := range all {
		require.Len(t, result[protocol.FuzzyFileSearchResponse](p).Files, 1)
	}
}

// session returns a search session of a client.
func (d *desk) session(id string, roots ...string) {
	d.t.Helper()
	d.send(1, "fuzzyFileSearch/sessionStart", object{"sessionId": id, "roots": roots}).done()
}

func (d *desk) query(id, query string) {
	d.t.Helper()
	d.send(1, "fuzzyFileSearch/sessionUpdate", object{"sessionId": id, "query": query}).done()
}

// untilCompleted gives what was found last for a query.
func (d *desk) untilCompleted(id, query string) (files []protocol.FuzzyFileSearchResult) {
	d.t.Helper()
	last := ""
	for {
		switch n := d.await().Notification.(type) {
		case protocol.FuzzyFileSearchSessionUpdatedNotification:
			require.Equal(d.t, id, n.SessionID)
			files, last = n.Files, n.Query
		case protocol.FuzzyFileSearchSessionCompletedNotification:
			require.Equal(d.t, id, n.SessionID)
			if last == query {
				return files
			}
		}
	}
}

func TestASessionAnswersEachQuery(t *testing.T) {
	d := open(t)
	root := project(t, "main.go", "lib/list.go")
	d.session("s", root)
	for _, c := range []struct {
		query string
		want  []string
	}{{"m", []string{"main.go"}}, {"ma", []string{"main.go"}}, {"ma", []string{"main.go"}}, {"", []string{}},
		{"li", []string{"lib", "lib/list.go"}}, {"zz", []string{}}} {
		d.query("s", c.query)
		require.ElementsMatch(t, c.want, names(d.untilCompleted("s", c.query)), c.query)
	}
	write(t, filepath.Join(root, "later.go"), "")
	d.query("s", "later")
	require.Empty(t, d.untilCompleted("s", "later"), "the files are those of its begin")
	d.session("s", root)
	d.query("s", "later")
	require.Len(t, d.untilCompleted("s", "later"), 1, "one with the same name takes its place")
	d.send(1, "fuzzyFileSearch/sessionStop", object{"sessionId": "s"}).done()
}

func TestQueriesThatComeFastAreNotAllAnswered(t *testing.T) {
	d := open(t)
	root := project(t, "some/where/target.go")
	d.session("s", root)
	for i := range len("target") {
		d.query("s", "target"[:i+1])
	}
	require.Equal(t, []string{"some/where/target.go"}, names(d.untilCompleted("s", "target")), "the last one is")
	d.send(1, "fuzzyFileSearch/sessionStop", object{"sessionId": "s"}).done()
}

func TestAStoppedSessionReportsNothing(t *testing.T) {
	d := open(t)
	root := project(t, "file")
	d.session("s", root)
	d.query("s", "file")
	d.send(1, "fuzzyFileSearch/sessionStop", object{"sessionId": "s"}).done()
	d.send(1, "fuzzyFileSearch/sessionStop", object{"sessionId": "s"}).done()
	said := len(d.notices)
	text := d.send(1, "fuzzyFileSearch/sessionUpdate",
		object{"sessionId": "s", "query": "f"}).refused(protocol.KindSearchNotFound)
	require.Equal(t, "fuzzy file search session not found: s", text)
	d.session("other", root)
	d.query("other", "file")
	for range said {
		<-d.notices
	}
	require.Len(t, d.untilCompleted("other", "file"), 1)
}

func TestRefusalsOfSessions(t *testing.T) {
	d := open(t)
	d.send(1, "fuzzyFileSearch/sessionStart",
		object{"sessionId": "", "roots": []string{}}).refused(protocol.KindInvalidParams)
	d.send(1, "fuzzyFileSearch/sessionStart",
		object{"sessionId": "s", "roots": slices.Repeat([]string{"/"}, 65)}).refused(protocol.KindInvalidParams)
	for i := range 32 {
		d.session(fmt.Sprint(i), "/none")
	}
	d.send(1, "fuzzyFileSearch/sessionStart",
		object{"sessionId": "more", "roots": []string{}}).refused(protocol.KindOverloaded)
	d.session("7", "/none")
	d.send(2, "fuzzyFileSearch/sessionUpdate", object{"sessionId": "7", "query": "x"}).refused(protocol.KindSearchNotFound)
	d.leave(1)
	d.send(1, "fuzzyFileSearch/sessionUpdate", object{"sessionId": "7", "query": "x"}).refused(protocol.KindShuttingDown)
	d.send(1, "fuzzyFileSearch/sessionStop", object{"sessionId": "7"}).refused(protocol.KindShuttingDown)
	d.send(1, "fuzzyFileSearch/sessionStart",
		object{"sessionId": "7", "roots": []string{}}).refused(protocol.KindShuttingDown)
	d.send(1, "fuzzyFileSearch", object{"query": "x", "roots": []string{}}).refused(protocol.KindShuttingDown)
}

func TestASessionWaitsForItsClient(t *testing.T) {
	d := open(t)
	root := project(t, "file")
	d.session("s", root)
	d.query("s", "f")
	d.untilCompleted("s", "f")
	resume := d.stopReading()
	for _, query := range strings.Split("fi fil file", " ") {
		d.query("s", query)
	}
	require.Empty(t, d.notices)
	resume()
	require.Len(t, d.untilCompleted("s", "file"), 1)
}

func TestSearchesEndWithTheHost(t *testing.T) {
	d := open(t)
	d.session("s", "/")
	d.query("s", "a")
	p := d.send(1, "fuzzyFileSearch", object{"query": "a", "roots": []string{"/"}})
	d.close()
	require.Empty(t, result[protocol.FuzzyFileSearchResponse](p).Files, "also where there is much to look through")
}
